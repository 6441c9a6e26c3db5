"""sharpstream: learn from a stream once, as it arrives (SHARP and its baselines under one contract)."""

__version__ = "0.1.0"
