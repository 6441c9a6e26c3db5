"""`sharp data list | add | fetch | verify`: see, bring in and check the corpora. `main` is called by the command line.

Each command prints a table for people or, with --json, one JSON document for scripts; what goes wrong is a SharpError.
"""

import json as json_module
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sharpstream.errors import DataError
from sharpstream.streams import catalogue, places
from sharpstream.streams.opening import unknown_stream
from sharpstream.streams.store import Store, has_store, open_store, write_store
from sharpstream.streams.text import Alphabet, encode_file, symbols_of

Row = dict[str, Any]


def data_rows() -> list[Row]:
    """One row per named stream: name, what, status, tokens, where it is looked for."""
    rows: list[Row] = []
    for entry in catalogue.entries():
        status, tokens = catalogue.status_of(entry)
        rows.append(
            {
                "name": entry.name,
                "what": entry.what,
                "status": status,
                "tokens": tokens,
                "files": list(entry.files),
                "url": entry.url,
                "sha256": entry.sha256,
                "download_bytes": entry.download_bytes,
            }
        )
    return rows


def list_data(*, json: bool = False) -> None:
    """What there is to learn from, and whether it is on this machine."""
    rows = data_rows()
    if json:
        print(json_module.dumps({"cache": str(places.cache_directory()), "streams": rows}, indent=1))
        return
    shown = [
        [row["name"], row["status"], "" if row["tokens"] is None else f"{row['tokens']:,}", row["what"]] for row in rows
    ]
    _print_table(["stream", "status", "tokens", "what it is"], shown)
    print(f"Also a file path, or - for standard input. Cache: {places.cache_directory()}")


def add_data(path: Path, name: str, /, *, alphabet: Alphabet = "letters", json: bool = False) -> None:
    """Keep a file as a stream with a name of its own: sharp run out --stream NAME."""
    catalogue.check_new_name(name)
    if not path.is_file():
        raise DataError(f"there is no file {path} to add")
    details = {"source": str(path.resolve()), "alphabet": alphabet}
    pieces = encode_file(path, alphabet)
    _report(write_store(places.added_base(name), pieces, symbols_of(alphabet), details=details), json)


def fetch_data(name: str, /, *, json: bool = False) -> None:
    """Find or download a corpus and make it ready: text8, or pg19, also -validation and -subword."""
    _report(prepared(name), json)


def prepared(name: str) -> Store:
    """A corpus, ready to be read."""
    if name == "text8":
        from sharpstream.streams.text8 import text8_store

        return text8_store()
    if name in ("pg19", "pg19-validation"):
        from sharpstream.streams.pg19 import pg19_store

        return pg19_store(name)
    if name in ("pg19-subword", "pg19-subword-validation"):
        from sharpstream.config_subword import SubwordConfig
        from sharpstream.streams.subword import subword_store

        return subword_store(name, SubwordConfig())
    if name in catalogue.all_names():
        raise DataError(f"{name} needs no fetching; it is ready")
    raise unknown_stream(name)


def verify_data(name: str | None = None, /, *, json: bool = False) -> None:
    """Read what is stored again and compare checksums: one corpus, or all that are on this machine."""
    rows: list[Row] = []
    for stored, base in sorted(_stored(name).items()):
        try:
            open_store(base).verify()
            rows.append({"name": stored, "sound": True, "problem": ""})
        except DataError as problem:
            rows.append({"name": stored, "sound": False, "problem": str(problem)})
    if json:
        print(json_module.dumps(rows, indent=1))
    elif rows:
        _print_table(["stream", "state"], [[row["name"], "sound" if row["sound"] else "damaged"] for row in rows])
    else:
        print("Nothing is stored yet; sharp data fetch text8 would change that.")
    damaged = [row["problem"] for row in rows if not row["sound"]]
    if damaged:
        raise DataError("; ".join(damaged))


def _stored(name: str | None) -> dict[str, Path]:
    """The stores on this machine, or the one named."""
    bases = {n: places.corpus_base(n) for n in catalogue.BUILT_IN_NAMES} | {
        n: places.added_base(n) for n in catalogue.added_names()
    }
    made = places.corpus_base("x").parent.glob("*-subword-*.json")  # one for each tokenizer
    bases |= {path.stem: path.with_suffix("") for path in made}
    if name is None:
        return {n: base for n, base in bases.items() if has_store(base)}
    if name not in bases:
        raise unknown_stream(name)
    if not has_store(bases[name]):
        raise DataError(f"{name} is not stored on this machine; sharp data fetch {name} stores a corpus")
    return {name: bases[name]}


def _report(store: Store, json: bool) -> None:
    told = store.description
    if json:
        row = {"name": store.name, "tokens": told.length, "vocabulary": len(told.symbols), "sha256": told.sha256}
        print(json_module.dumps({**row, "path": str(store.path)}, indent=1))
    else:
        print(f"{store.name} is ready: {told.length:,} tokens of {len(told.symbols)} symbols in {store.path}")


def _print_table(headings: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading == "tokens" else "left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def main(argv: list[str]) -> int:
    """Run `sharp data ARGV`; 0 when it went well."""
    import tyro

    commands: dict[str, Callable[..., Any]] = {
        "list": list_data,
        "add": add_data,
        "fetch": fetch_data,
        "verify": verify_data,
    }
    tyro.extras.subcommand_cli_from_dict(commands, prog="sharp data", args=argv)
    return 0
