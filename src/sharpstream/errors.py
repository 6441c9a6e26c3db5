"""The errors a person can cause or mend. Each says what was wrong, what was expected and what to do.

Every layer raises these; the command line prints the one line and exits with code 2. Anything else that escapes is a
bug of ours and keeps its traceback.
"""


class SharpError(Exception):
    """Base of every error that speaks to the person at the keyboard."""


class ConfigError(SharpError):
    """A setting has a value that is not allowed, or a name that does not exist."""


class StreamError(SharpError):
    """A stream cannot give the tokens asked of it: empty, too short, not text, out of the vocabulary."""


class DataError(SharpError):
    """A corpus is missing, damaged or cannot be fetched."""


class RunError(SharpError):
    """A run directory cannot be written, continued or read."""


class NumericalError(SharpError):
    """Learning left the finite numbers; what is on disk is the last good state."""
