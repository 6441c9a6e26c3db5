"""What a number was measured on: processor, cores, and the versions that matter.

Nothing comes in; one frozen description goes out, into the regime of every result row and into benchmark output.
"""

import functools
import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """One machine and its software."""

    cpu: str
    cores: int
    system: str
    python: str
    numpy: str
    numba: str

    @property
    def hardware(self) -> str:
        """One line for a result row; runs compare only when this is equal."""
        return f"{self.cpu}, {self.cores} cores"

    @property
    def software(self) -> str:
        """One line of versions."""
        return f"{self.system}, Python {self.python}, numpy {self.numpy}, numba {self.numba}"


@functools.cache
def describe() -> Machine:
    """This machine."""
    return Machine(
        cpu=_cpu_model(),
        cores=_cores(),
        system=platform.system() or "unknown system",
        python=platform.python_version(),
        numpy=_version("numpy"),
        numba=_version("numba"),
    )


def _cpu_model() -> str:
    """The processor's own name where the system tells it (Linux), else what the platform calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine() or "unknown processor"


def _cores() -> int:
    """Cores this process may use: a container often sees fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _version(package: str) -> str:
    """An installed version without importing the package (numba takes a second)."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
