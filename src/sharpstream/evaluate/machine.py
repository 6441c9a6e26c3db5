"""What a number was measured on: processor, cores, and the versions that matter.

Nothing comes in; one frozen description goes out, into the regime of every result row and into benchmark output.
"""

import functools
import os
import platform
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sharpstream.version import __version__

LIBRARIES = ("numpy", "numba", "llvmlite", "torch")


@dataclass(frozen=True)
class Machine:
    """One machine and its software."""

    cpu: str
    cores: int
    system: str
    python: str
    versions: str
    """Of the libraries that decide a number's last bits."""
    package: str
    """sharpstream's own version, and the commit where it is a checkout."""

    @property
    def hardware(self) -> str:
        """One line for a result row; runs compare only when this is equal."""
        return f"{self.cpu}, {self.cores} cores"

    @property
    def software(self) -> str:
        """One line of versions."""
        return f"{self.system}, Python {self.python}, {self.versions}, {self.package}"


@functools.cache
def describe() -> Machine:
    """This machine."""
    return Machine(
        cpu=_cpu_model(),
        cores=_cores(),
        system=platform.system() or "unknown system",
        python=platform.python_version(),
        versions=", ".join(f"{name} {found}" for name in LIBRARIES if (found := _version(name))),
        package=f"sharpstream {__version__}{_commit()}",
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
    """An installed version without importing the package (numba takes a second); nothing where it is absent."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit that this package is a checkout of, marked when files of it were changed; nothing elsewhere."""
    package = Path(__file__).parents[1]
    command = ["git", "-C", str(package), "describe", "--always", "--dirty=-changed", "--abbrev=9", "--exclude=*"]
    try:
        tracked = subprocess.run(
            ["git", "-C", str(package), "ls-files", "--error-unmatch", __file__], capture_output=True
        )
        told = subprocess.run(command, capture_output=True, text=True)
    except OSError:  # no git here
        return ""
    return f" ({told.stdout.strip()})" if tracked.returncode == 0 and told.returncode == 0 else ""
