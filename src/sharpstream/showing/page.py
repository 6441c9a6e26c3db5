"""One self-contained HTML page: sections come in, text goes out. Everything from data is escaped here.

Curves are drawn by plotly, whose script travels inside its Python package, so the page opens offline and has hover,
zoom and legends that toggle without code of ours. Colours follow the system's theme, and a button changes it.
"""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from sharpstream.errors import ConfigError

Figure = Mapping[str, Any]  # plotly: data, layout


@dataclass(frozen=True)
class Section:
    """A part of the page under its own heading."""

    title: str
    parts: tuple[str, ...]
    """Finished HTML, made by the functions below."""


def text(words: object) -> str:
    """Words from anywhere, as HTML that shows them as they are."""
    return html.escape(str(words), quote=True)


def paragraph(words: object) -> str:
    return f"<p>{text(words)}</p>"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table that scrolls by itself on a narrow screen."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(cell: object) -> str:
    if cell is None:
        return "–"
    return text(f"{cell:,}" if isinstance(cell, int) else f"{cell:.4f}" if isinstance(cell, float) else cell)


def figure(name: str, drawing: Figure, told: str) -> str:
    """A place for a drawing; `told` says in words what it shows, for those who do not see it."""
    return (
        f'<figure><div class="plot" id="{text(name)}" role="img" aria-label="{text(told)}"></div>'
        f'<figcaption>{text(told)}</figcaption><script type="application/json" data-plot="{text(name)}">'
        f"{_json(drawing)}</script></figure>"
    )


def _json(value: Any) -> str:
    """JSON that cannot end its script element, and in which what is no number is null."""
    finite = json.loads(json.dumps(value), parse_constant=lambda word: None)
    return json.dumps(finite, allow_nan=False).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def page(title: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    contents = "".join(f'<li><a href="#s{i}">{text(s.title)}</a></li>' for i, s in enumerate(sections))
    bodies = "".join(
        f'<section id="s{i}"><h2>{text(s.title)}</h2>{"".join(s.parts)}</section>' for i, s in enumerate(sections)
    )
    folder = resources.files("sharpstream.showing")
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{text(title)}</title><style>{style}</style></head><body>'
        f'<header><h1>{text(title)}</h1><button id="theme" type="button">light or dark</button></header>'
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav><main>{bodies}</main>'
        f"<script>{_plotly()}</script><script>{script}</script></body></html>\n"
    )


def _plotly() -> str:
    """plotly's own script."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as problem:
        raise ConfigError("the page needs plotly: pip install 'sharpstream[report]'") from problem
    return str(get_plotlyjs())
