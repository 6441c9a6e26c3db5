"""`sharp recipes`: the settings of the paper by name, or one of them as TOML."""

from collections.abc import Sequence

from sharpstream.config_files import to_toml
from sharpstream.experiments.recipes import RECIPES, recipe_named


def main(argv: Sequence[str]) -> int:
    """List the recipes, or print one."""
    if argv and argv[0] in ("-h", "--help"):
        print("usage: sharp recipes [NAME]\n\nWithout a name: what there is. With one: its settings as TOML.")
    elif argv:
        print(to_toml(recipe_named(argv[0])), end="")
    else:
        for name, recipe in RECIPES.items():
            print(f"{name:<18} {(recipe.__doc__ or '').splitlines()[0]}")
    return 0
