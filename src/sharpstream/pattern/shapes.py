"""The arrays of a pattern block: their names, shapes and order.

Compiled code finds an array by its place: six fixed ones, then weight and bias of each linear of the MLP.
"""

from sharpstream.config import SharpConfig

Shape = tuple[int, ...]
FIXED_ARRAYS = 6


def arrays_per_block(depth: int) -> int:
    """How many rows of the layout one pattern block takes."""
    return FIXED_ARRAYS + 2 * depth


def pattern_shapes(config: SharpConfig, vocabulary: int, level: int) -> dict[str, Shape]:
    """Name → shape of block ℓ's arrays. `film` has no LayerNorm.

    With `film-normed` the top block's second LayerNorm exists and is never used (as published).
    """
    width, top = config.width, level == config.levels
    film, normed = config.conditioning != "concat", config.conditioning != "film"
    conditioned = 0 if top else (2 * width if film else width)  # rows of the linear that reads the context
    inner = width if film or top else 2 * width  # width of the MLP's input
    shapes: dict[str, Shape] = {
        "norm.weight": (inner if normed else 0,),
        "norm.bias": (inner if normed else 0,),
        ("film.weight" if film else "project.weight"): (conditioned, width),
        ("film.bias" if film else "project.bias"): (conditioned,),
        "film_norm.weight": (width if film and normed else 0,),
        "film_norm.bias": (width if film and normed else 0,),
    }
    out = vocabulary if level == 1 else width
    for layer in range(config.depth):
        rows = out if layer == config.depth - 1 else inner
        shapes[f"mlp.{layer}.weight"] = (rows, inner)
        shapes[f"mlp.{layer}.bias"] = (rows,)
    return shapes
