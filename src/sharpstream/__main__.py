"""`python -m sharpstream` is `sharp`."""

from sharpstream.cli import entry

if __name__ == "__main__":
    entry()
