"""The version, apart from the public names so that every layer can say it."""

__version__ = "0.4.0"
