"""How kernels are compiled: one decorator, one cache that can never be stale.

Numba's own cache notices a change in a function's file but not in the files it calls. So the cache directory is named
after the contents of every source file of the package: any edit starts a new one, an unchanged install reuses it, and
those that nobody has used for a month are removed.
"""

import functools
import hashlib
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import binding
from numba.core.codegen import CPUCodeLibrary

Function = TypeVar("Function", bound=Callable[..., object])
Array = npt.NDArray[Any]  # float32 or float64 throughout one call
FIRST: Any = np.int64(0)  # typed, as LOWEST: a literal would compile every function it is passed to once more
LOWEST: Any = np.int64(1)  # level 1
UNCOMPILED = bool(vars(numba.config)["DISABLE_JIT"])  # kernels run as Python, for whoever steps through one
if UNCOMPILED:
    np.seterr(over="ignore")  # hashes wrap around
UNUSED = 30 * 86_400.0  # seconds
COMPILED_PACKAGES = ("kernels", "memory", "pattern", "sleep", "learners")


@functools.cache
def source_digest() -> str:
    """Names the contents of every source file that is compiled, and Numba's version."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for name in COMPILED_PACKAGES:
        for source in sorted((package / name).glob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Where compiled kernels of exactly this source are kept: under SHARP_CACHE, or the user's cache."""
    root = Path(os.environ.get("SHARP_CACHE") or Path.home() / ".cache" / "sharpstream")
    return root / "numba" / source_digest()


def prune_caches(now: float) -> None:
    """Remove the caches of other sources that no process has used for a month; ours is marked as used."""
    ours = cache_directory()
    ours.mkdir(parents=True, exist_ok=True)
    os.utime(ours)
    for other in ours.parent.iterdir():
        if other != ours and now - other.stat().st_mtime > UNUSED:
            shutil.rmtree(other, ignore_errors=True)


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]

# Sums may be reassociated and multiplied-and-added in one step (that is what vectorises a dot product); NaN and
# infinity keep their meaning, because numerical safety looks for them. nogil lets a progress display breathe.
OPTIONS: Any = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}, "boundscheck": False}
_counting: Any = {**OPTIONS, "_nrt": True}  # said outright: else it is inherited from the kernel that calls first
_compile = numba.njit(cache=True, nogil=True, **_counting)


class Exactness:
    """Whether what was compiled in this process gives the same bits in every process: what exact resume rests on."""

    def __init__(self) -> None:
        self.holds = True

    def lose(self, why: object) -> None:
        """Say once that runs of this process cannot be promised to continue to the last bit."""
        if self.holds:
            self.holds = False
            told = (
                f"Numba {numba.__version__} is not one that sharpstream knows ({why}): runs are not exactly resumable"
            )
            warnings.warn(f"{told}; install the versions that pyproject.toml names", stacklevel=2)


EXACT = Exactness()


def _keep_callees_private(library_class: Any, exact: Exactness) -> None:
    """Let every compiled kernel run its own copies of the kernels it calls, in every process.

    Numba leaves those copies as weak symbols: a copy that another kernel brought into the process earlier is called
    instead, and LLVM may have rounded the two differently. The last bit then hung on which kernel was loaded first.

    These are Numba's inner parts. Where another Numba has others, kernels are as good but for that last bit; then the
    person is told, and the runs say so.
    """
    needed = ("_finalize_final_module", "_get_module_for_linking")
    missing = [name for name in needed if not hasattr(library_class, name)]
    if missing:
        exact.lose(f"{library_class.__name__} has no {missing[0]}")
        return
    finish = library_class._finalize_final_module

    def finish_private(library: Any) -> None:
        try:
            _make_private(library)
        except (AttributeError, TypeError, ValueError) as problem:
            exact.lose(problem)
        finish(library)

    library_class._finalize_final_module = finish_private


def _make_private(library: Any) -> None:
    if library._shared_module is not None:
        return  # it comes from the cache, and was made private before
    library._finalized = True  # as the next call asks; what other kernels link stays as Numba made it
    library._get_module_for_linking()
    for function in library._final_module.functions:
        if function.linkage == binding.Linkage.linkonce_odr and not function.is_declaration:
            function.linkage = binding.Linkage.internal


_keep_callees_private(CPUCodeLibrary, EXACT)


def kernel(function: Function) -> Function:
    """Compile a function on first call, for each dtype once; sizes never cause recompilation."""
    compiled: Function = _compile(function)
    return compiled


_lean: Any = {**OPTIONS, "_nrt": False}  # no reference counting; Numba does not type this option
_compile_lean = numba.njit(cache=True, nogil=True, **_lean)


def lean_kernel(function: Function) -> Function:
    """A kernel that makes no arrays, only reads and writes those it is given: nothing counts references to them.

    Where arrays travel in a NamedTuple, Numba counts up and down at every access, by an atomic instruction: half the
    time of the episodic learner's loop went there, and of a step of SHARP's cheapest memories nearly all. Views that it
    cuts are borrowed: it may return a tuple of them to another lean kernel, never to a counting one, which would count
    them down.
    """
    compiled: Function = _compile_lean(function)
    return compiled


_compile_flat = numba.njit(cache=True, nogil=True, forceinline=True, **_lean)


def flat_kernel(function: Function) -> Function:
    """A lean kernel whose machine code stands in each of its callers, for small steps that are handed many arrays.

    An array is seven words on the stack, a block's arrays a hundred: a step of the cheapest memory took 0.56 µs to be
    called and 0.11 to be done. Each caller compiles longer for it, so only what runs at every token is flat.
    """
    compiled: Function = _compile_flat(function)
    return compiled


_inline: Any = numba.njit(inline="always")


def inlined(function: Function) -> Function:
    """Part of whatever kernel calls it, before types are known: a lean kernel gets a view from it, a call could not."""
    compiled: Function = _inline(function)
    return compiled
