"""A run that is stopped and continued is the run that never was stopped, bit for bit.

python examples/stop_and_resume.py
"""

import tempfile
from pathlib import Path

from sharpstream import RunConfig, SharpConfig, SleepConfig, load, run

sharp = SharpConfig(levels=2, width=16, embedding=8, sleep=SleepConfig(every=500, tags=10))
config = RunConfig(learner="sharp", tokens=4_000, log_every=1_000, sharp=sharp)

with tempfile.TemporaryDirectory() as directory:
    steady, stopped = Path(directory, "steady"), Path(directory, "stopped")
    run(steady, config)
    run(stopped, config.replace(tokens=1_700))  # ends inside an interval of the log ...
    run(stopped, config)  # ... and goes on: the directory knows where it was

    one, two = load(steady).state_dict(), load(stopped).state_dict()
    same = all((one[name] == two[name]).all() for name in one)
    logs = [(path / "metrics.jsonl").read_bytes() for path in (steady, stopped)]
    print(f"{len(one)} arrays", "equal, every bit" if same else "DIFFER")
    print("logs", "equal, every byte" if logs[0] == logs[1] else "DIFFER")
