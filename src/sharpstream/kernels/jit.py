"""How kernels are compiled: one decorator, one cache that can never be stale.

Numba's own cache notices a change in a function's file but not in the files it calls. So the cache directory is named
after the contents of every source file of the package: any edit starts a new one, an unchanged install reuses it.
"""

import functools
import hashlib
import os
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
LOWEST: Any = np.int64(1)  # level 1, typed: a literal 1 would compile every function it is passed to once more
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


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]

# Sums may be reassociated and multiplied-and-added in one step (that is what vectorises a dot product); NaN and
# infinity keep their meaning, because numerical safety looks for them. nogil lets a progress display breathe.
OPTIONS: Any = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}, "boundscheck": False}
_compile = numba.njit(cache=True, nogil=True, **OPTIONS)


def _keep_callees_private() -> None:
    """Let every compiled kernel run its own copies of the kernels it calls, in every process.

    Numba leaves those copies as weak symbols: a copy that another kernel brought into the process earlier is called
    instead, and LLVM may have rounded the two differently. The last bit then hung on which kernel was loaded first.

    These are Numba's inner parts. Where a later Numba has others, kernels are as good but for that last bit:
    tests/learners/test_warm.py would say so.
    """
    library_class: Any = CPUCodeLibrary  # Numba is not typed
    if not all(hasattr(library_class, name) for name in ("_finalize_final_module", "_get_module_for_linking")):
        return
    finish = library_class._finalize_final_module

    def finish_private(library: Any) -> None:
        if library._shared_module is None:  # just compiled; what comes from the cache was made private before
            library._finalized = True  # as the next call asks; what other kernels link stays as Numba made it
            library._get_module_for_linking()
            for function in library._final_module.functions:
                if function.linkage == binding.Linkage.linkonce_odr and not function.is_declaration:
                    function.linkage = binding.Linkage.internal
        finish(library)

    library_class._finalize_final_module = finish_private


_keep_callees_private()


def kernel(function: Function) -> Function:
    """Compile a function on first call, for each dtype once; sizes never cause recompilation."""
    compiled: Function = _compile(function)
    return compiled


_lean: Any = {**OPTIONS, "_nrt": False}  # no reference counting; Numba does not type this option
_compile_lean = numba.njit(cache=True, nogil=True, **_lean)


def lean_kernel(function: Function) -> Function:
    """A kernel that makes no arrays, only reads and writes those it is given: nothing counts references to them.

    Where arrays travel in a NamedTuple, Numba counts up and down at every access, by an atomic instruction: a third of
    the time of the episodic learner's loop went there.
    """
    compiled: Function = _compile_lean(function)
    return compiled
