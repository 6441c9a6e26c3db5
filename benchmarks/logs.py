"""How well lines that stand out are found in real logs: every candidate score and three baselines in one table.

    python benchmarks/logs.py --out results/watch

Reads `loghub.zip` from SHARP_DATA (or --logs FILE): members NAME_2k.log and NAME_2k.log_structured.csv, the collection
of Zhu et al., ISSRE 2023. A line is rare when its EventId occurs at most 3 times in the file. AUROC and average
precision (AP) are given from the first line and after 500, with 95 % intervals from resampled lines within each log.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from log_scores import (
    BASELINES,
    DRAWS,
    WINNER,
    Log,
    alerts,
    auroc,
    average_precision,
    candidates,
    chosen_without,
    interval,
    learn,
    logs,
)  # fmt: skip

WARM, RATES = 500, (1.0, 5.0, 20.0)


def measure(found: list[Log]) -> list[dict[str, Any]]:
    """A row for each score and log."""
    rows = []
    for log_ in found:
        for name, scores in candidates(log_).items():
            row: dict[str, Any] = {"log": log_.name, "score": name, "wanted": int(log_.rare.sum())}
            for label, first in (("first", 0), ("warm", WARM)):
                row[f"auroc_{label}"] = auroc(scores[first:], log_.rare[first:])
                row[f"ap_{label}"] = average_precision(scores[first:], log_.rare[first:])
            row |= {"scores": scores, "rare": log_.rare}
            rows.append(row)
        print(f"{log_.name}: {int(log_.rare.sum())} of {len(log_.lines)} lines are wanted", file=sys.stderr, flush=True)
    return rows


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """The table of scores: means over logs, with intervals."""
    lines = [
        "| score | AUROC | AP | AUROC after 500 lines | AP after 500 lines |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(row["score"] for row in rows):
        mine = [row for row in rows if row["score"] == name]
        cells = []
        for label, first in (("first", 0), ("warm", WARM)):
            for key, how in (("auroc", auroc), ("ap", average_precision)):
                low, high = interval(
                    how, [row["scores"][first:] for row in mine], [row["rare"][first:] for row in mine]
                )
                cells.append(f"{np.mean([row[f'{key}_{label}'] for row in mine]):.3f} ({low:.3f}–{high:.3f})")
        bold = "**" if name == WINNER else ""
        lines.append(f"| {bold}{name}{bold} | " + " | ".join(cells) + " |")
    return lines


def by_log(rows: list[dict[str, Any]]) -> list[str]:
    """AP of each log: the default, the baselines, and what the other logs would have chosen."""
    names = list(dict.fromkeys(row["log"] for row in rows))
    ap = {
        score: [next(r["ap_first"] for r in rows if r["log"] == name and r["score"] == score) for name in names]
        for score in dict.fromkeys(row["score"] for row in rows)
    }
    lines = [
        "| log | rare lines | default: AUROC | default: AP | counts | frequency | drain3 | chosen by the others: AP |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    picked = []
    for i, name in enumerate(names):
        row = next(r for r in rows if r["log"] == name and r["score"] == WINNER)
        other = chosen_without(ap, i)
        picked.append(ap[other][i])
        cells = [f"{ap[score][i]:.3f}" for score in (WINNER, *BASELINES)]
        start = f"| {name} | {row['wanted']} | {row['auroc_first']:.3f} | "
        lines.append(f"{start}{' | '.join(cells)} | {other}: {ap[other][i]:.3f} |")
    means = [f"{np.mean(ap[score]):.3f}" for score in (WINNER, *BASELINES)]
    first = np.mean([r["auroc_first"] for r in rows if r["score"] == WINNER])
    return [*lines, f"| **mean** | | {first:.3f} | {' | '.join(means)} | {np.mean(picked):.3f} |"]


def rates(rows: list[dict[str, Any]]) -> list[str]:
    """Precision and recall of the alert rule at each rate, over the lines of all logs together."""
    lines = [
        "| score | asked for, per 1,000 lines | given | precision | recall |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in (WINNER, *BASELINES):
        for per_1000 in RATES:
            found = [alerts(row["scores"], row["rare"], per_1000) for row in rows if row["score"] == name]
            total = {key: sum(one[key] for one in found) for key in found[0]}
            given = f"{1000 * total['alerts'] / total['lines']:.1f}"
            precision = f"{total['hits'] / total['alerts']:.2f}" if total["alerts"] else "–"
            lines.append(f"| {name} | {per_1000:g} | {given} | {precision} | {total['hits'] / total['wanted']:.2f} |")
    return lines


def speed(found: list[Log]) -> list[str]:
    """Lines a CPU second, by log."""
    lines = ["| log | bytes a line | default: lines/s | --fast: lines/s |", "|---|---:|---:|---:|"]
    for log_ in found:
        size = np.mean([len(line.encode("utf-8", "surrogateescape")) for line in log_.lines])
        cells = [f"{len(log_.lines) / log_.seconds[name]:,.0f}" for name in ("default", "fast")]
        lines.append(f"| {log_.name} | {size:.0f} | {cells[0]} | {cells[1]} |")
    return lines


def page(rows: list[dict[str, Any]], found: list[Log], command: str) -> str:
    """The whole result as Markdown."""
    plain = [row for row in rows if "(labels)" not in row["log"]]
    parts = [
        "# Lines that stand out in real logs",
        f"`{command}`",
        f"{len({row['log'] for row in plain})} logs of the Loghub collection, 2,000 lines each, read once. A line is "
        "rare when its event occurs at most three times in the file. Means over logs; in brackets 95 % when lines are "
        f"drawn anew ({DRAWS} draws).",
        "\n".join(summary(plain)),
        "## By log",
        "\n".join(by_log(plain)),
        "## Alerts",
        "The rule of `--alerts-per-1000`, over the lines of all logs after its warm-up (1,600, 320 and 80 lines).",
        "\n".join(rates(plain)),
        "## Speed",
        "Masking, learning and judging, CPU seconds of one thread of a shared machine, in this run.",
        "\n".join(speed(found)),
    ]
    labelled = [row for row in rows if "(labels)" in row["log"]]
    if labelled:
        parts += ["## Labelled lines", "\n".join(summary(labelled)), "\n".join(rates(labelled))]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Read, learn, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("SHARP_DATA", ".")) / "loghub.zip"
    parser.add_argument("--logs", type=Path, default=default, help="the archive of logs")
    parser.add_argument("--out", type=Path, help="a directory for RESULTS.md and rows.jsonl")
    options = parser.parse_args()
    if not options.logs.exists():
        parser.error(f"there is no {options.logs}; set SHARP_DATA to a directory with loghub.zip, or give --logs FILE")
    found = list(logs(options.logs))
    for log_ in found:
        learn(log_)
    rows = measure(found)
    text = page(rows, found, "python benchmarks/logs.py --out results/watch")
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "RESULTS.md").write_text(text)
        kept = [{key: value for key, value in row.items() if key not in ("scores", "rare")} for row in rows]
        (options.out / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))


if __name__ == "__main__":
    main()
