"""Draws docs/hierarchies.svg: the two hierarchies of SHARP and their clocks (`python docs/drawings.py`).

Plain SVG text, no library: the drawing is seven kinds of lines and boxes, and the README shows the file as it is.
"""

from pathlib import Path

LEVELS, TICKS, ALPHA = 3, 32, 4
LEFT, STEP, TOP, GAP = 150, 17, 62, 84  # where time begins, a token's width, the top level's row, rows apart
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#7F7F7F", "#222222"
RIGHT = LEFT + TICKS * STEP + 40  # where the pattern blocks stand
BLOCK = 190


def row(level: int) -> int:
    """The height of a level; level 1 is the lowest."""
    return TOP + (LEVELS - level) * GAP


def text(x: float, y: float, words: str, *, colour: str = INK, size: int = 13, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    name = {BLUE: "blue", ORANGE: "orange"}.get(colour, "grey")
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.6"{dashed} '
        f'marker-end="url(#{name})"/>'
    )


def box(x: float, y: float, width: float, height: float, colour: str, fill: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" stroke="{colour}" '
        'stroke-width="1.4"/>'
    )


def memory(level: int) -> list[str]:
    """A level's memory: a box for each time it ticks, as wide as it waits; what it takes from the level below."""
    every, y = ALPHA ** (level - 1), row(level)
    clock = "every token" if level == 1 else f"every {every} tokens"
    drawn = [
        text(LEFT - 12, y + 14, f"memory {level}", colour=BLUE, anchor="end"),
        text(LEFT - 12, y + 29, clock, colour=GREY, size=11, anchor="end"),
    ]
    for tick in range(TICKS // every):
        x = LEFT + tick * every * STEP
        drawn.append(box(x + 1, y, every * STEP - 2, 32, BLUE, "#E6F1F8"))
        below = row(level - 1) if level > 1 else TOP + LEVELS * GAP - 14
        drawn.append(arrow(x + STEP / 2, below - 2, x + STEP / 2, y + 35, BLUE))
    return drawn


def pattern(level: int) -> list[str]:
    """A pattern block: it reads its memory, and hands what it makes of it to the level below."""
    y = row(level)
    drawn = [
        box(RIGHT, y, BLOCK, 32, ORANGE, "#FBEDE3"),
        text(RIGHT + BLOCK / 2, y + 21, f"pattern block {level}", colour=ORANGE, anchor="middle"),
        arrow(LEFT + TICKS * STEP + 4, y + 16, RIGHT - 4, y + 16, BLUE),
    ]
    below = y + GAP - 3 if level > 1 else TOP + LEVELS * GAP - 28
    words = f"scale and shift for level {level - 1}" if level > 1 else ""
    x = RIGHT + BLOCK / 2
    return [*drawn, arrow(x, y + 34, x, below, ORANGE), text(x + 8, y + 60, words, colour=GREY, size=11)]


def drawing() -> str:
    """The whole picture."""
    bottom = TOP + LEVELS * GAP
    width, height = RIGHT + BLOCK + 80, bottom + 104
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        for name, colour in (("blue", BLUE), ("orange", ORANGE), ("grey", GREY))
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img" aria-label="Memories tick ever more slowly going up; '
        'pattern blocks read them from the top down and predict the next token; asleep, replay trains upper memories">',
        f"<defs>{heads}</defs>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(LEFT, 28, "What is remembered: each level ticks 4 times more slowly, upwards", colour=BLUE, size=14),
        text(RIGHT, 28, "What is predicted: downwards", colour=ORANGE, size=14),
        text(LEFT - 12, bottom, "tokens", anchor="end"),
    ]
    letters = "the_stream_is_read_once_as_it_arr"
    parts += [text(LEFT + (i + 0.5) * STEP, bottom, letters[i], anchor="middle") for i in range(TICKS)]
    parts += [text(RIGHT + BLOCK / 2, bottom - 8, "probabilities of the next token", anchor="middle")]
    for level in range(1, LEVELS + 1):
        parts += memory(level) + pattern(level)
    parts += [
        text(LEFT, bottom + 34, "Awake: the error of a prediction trains the pattern blocks only; memory 1 learns to"),
        text(LEFT, bottom + 51, "reconstruct its last 4 tokens while that surprises it, and such moments are tagged."),
        text(LEFT, bottom + 72, "Asleep: pattern block 1 dreams on from each tag, and the dream, taken at the upper"),
        text(
            LEFT,
            bottom + 89,
            "clocks, trains memories 2 and 3. No gradient ever reaches back more than 4 tokens.",
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "hierarchies.svg").write_text(drawing(), encoding="utf-8")
