"""Where a subword stream finds its tokenizer and the frozen vectors of its symbols; a field of `StreamConfig`.

Files are named by path. What is not named is looked for in SHARP_DATA (`streams/subword.py`).
"""

from dataclasses import dataclass, fields

from sharpstream.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class SubwordConfig:
    """The files behind a subword stream."""

    tokenizer: str = ""
    """tokenizer.json, or a directory that holds it or encoder.json and vocab.bpe; else wordllama, then gpt2."""
    embedding: str = ""
    """A safetensors file with one row for each symbol; else embedding.safetensors beside the tokenizer."""
    key: str = ""
    """The name of the table in that file; it can be left out where the file has only one."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not isinstance(getattr(self, field.name), str):
                raise ConfigError(f"SubwordConfig.{field.name} = {getattr(self, field.name)!r}: it must be text")
