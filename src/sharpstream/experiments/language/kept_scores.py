"""A frozen probe is scored once: its row is kept in the run's directory, for scoring can take long and be stopped.

A kept row counts only for the very state, text and cap it was made with, else the probe is scored again. `measure.py`
scores through this; `pace.py` sees by the files how far the scoring is.
"""

import hashlib
import json
from pathlib import Path

from sharpstream.evaluate.probes import ProbeRow, score_probe
from sharpstream.files import write_whole
from sharpstream.learners.contract import Tokens
from sharpstream.loop import Run
from sharpstream.rundir import PROBE_FILE


def scored_once(work: Run, text: Tokens, *, probe: str, cap: float) -> ProbeRow:
    """The probe's row: the kept one if there is one of this state, text and cap, else a new one, which is then kept."""
    path = work.directory.path / PROBE_FILE.format(probe)
    summary = work.directory.summary or {}
    made_of = {
        "state_sha256": summary.get("state_sha256"),
        "text_sha256": hashlib.sha256(text.tobytes()).hexdigest(),
        "cap": cap,
    }
    kept = _kept(path, made_of)
    if kept is None:
        kept = score_probe(work.learner, text, probe=probe, cap=cap)
        write_whole(path, json.dumps({"made_of": made_of, **vars(kept)}))
    return kept


def _kept(path: Path, made_of: dict[str, object]) -> ProbeRow | None:
    """What is kept, if it can be read and was made of the same; a run that is not finished keeps nothing."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        row["parts"] = tuple(row.get("parts", ()))
        return ProbeRow(**row) if row.pop("made_of") == made_of and made_of["state_sha256"] else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
