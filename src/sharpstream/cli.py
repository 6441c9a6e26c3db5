"""The command `sharp`: find the subcommand, import only what it needs, make our errors one line and exit code 2."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from sharpstream.errors import SharpError

# One run is one thread; parallelism is across runs. Set before NumPy or torch is imported.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

COMMANDS = {
    "demo": ("sharpstream.commands.demo", "wake and sleep, live, on a stream with hidden rules; a picture at the end"),
    "run": ("sharpstream.commands.run", "start or continue a run in a directory"),
    "watch": ("sharpstream.commands.watch", "learn from standard input or a growing file; surprise out, line by line"),
    "fork": ("sharpstream.commands.fork", "what if, from here: a new run from a kept checkpoint, with other settings"),
    "evaluate": ("sharpstream.commands.evaluate", "forward, current and backward bits of a run, frozen"),
    "compare": ("sharpstream.commands.compare", "runs side by side: a table, and one figure of their curves"),
    "plot": ("sharpstream.commands.compare:main_plot", "a run's bits along its stream, as a picture"),
    "tensorboard": ("sharpstream.commands.tensorboard", "what runs have logged, as TensorBoard reads it"),
    "sample": ("sharpstream.commands.talk:main_sample", "continue a text with what a run has learned"),
    "surprise": ("sharpstream.commands.talk:main_surprise", "what each symbol of a file costs a run's learner"),
    "report": ("sharpstream.commands.report", "runs and experiments on one HTML page that opens anywhere"),
    "compress": ("sharpstream.commands.compress", "a file as the bits that a learner needs for it"),
    "decompress": ("sharpstream.commands.compress:main_decompress", "the file back, byte for byte"),
    "plan": ("sharpstream.commands.plan", "how many hours an experiment takes on this machine, before it starts"),
    "reproduce": ("sharpstream.commands.reproduce", "a figure or table of the paper, published beside ours"),
    "pages": ("sharpstream.commands.pages", "result pages, made again from their rows"),
    "bench": ("sharpstream.commands.bench", "how fast, as ratios measured in one run"),
    "compressors": ("sharpstream.commands.compressors", "what PPMd and zpaq make of a stream, in bits"),
    "data": ("sharpstream.streams.commands", "list, add, fetch and verify what there is to learn from"),
    "recipes": ("sharpstream.commands.recipes", "the settings of the paper, by name"),
}
USAGE = "usage: sharp COMMAND ...     (sharp COMMAND --help says more)"


def help_text() -> str:
    """What `sharp --help` prints; built without importing anything heavy."""
    rows = "\n".join(f"  {name:<12} {what}" for name, (_, what) in COMMANDS.items())
    return f"sharp: learn from a stream once, as it arrives.\n\n{USAGE}\n\n{rows}\n\nFirst time here? Try: sharp demo"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    try:
        code = _answer(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, where a reader that has gone or a full disk can still be told
        return code
    except SharpError as problem:
        print(f"sharp: {' '.join(str(problem).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # a run at work listens itself and saves; before and after there is nothing to save
        print("sharp: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone: nothing more to say
        _forget_output()
        return 0
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        _forget_output()
        print(f"sharp: cannot write the output: {problem.strerror}; make room or write elsewhere", file=sys.stderr)
        return 2


def _forget_output() -> None:
    """What is still to be flushed goes nowhere: the interpreter would complain of it on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(arguments: list[str]) -> int:
    """Help, the version, or a command."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0
    if arguments[0] == "--version":
        from sharpstream.version import __version__

        print(f"sharpstream {__version__}")
        return 0
    return _dispatch(arguments[0], arguments[1:])


def _dispatch(name: str, rest: list[str]) -> int:
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(COMMANDS)}"
        raise SharpError(f"there is no command {name!r}; {hint}")
    module, _, function = COMMANDS[name][0].partition(":")
    return int(getattr(importlib.import_module(module), function or "main")(rest))


def entry() -> None:
    """The console script."""
    sys.exit(main())
