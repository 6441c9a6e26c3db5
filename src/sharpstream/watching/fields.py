"""What a line says and when: one field of a JSON line (journald, docker, kubectl), and the time a line carries.

Used by the watch loop before masking. A line that is no JSON, or lacks the field, is taken as it is.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

TIME_FIELDS = ("time", "timestamp", "@timestamp", "ts", "date", "_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?")
_SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?")
_APACHE = re.compile(r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?")
LOOKED_AT = 100  # characters from the start of a line in which its time is looked for


def field_of(line: str, name: str) -> tuple[str | None, Any]:
    """The text of a field (dots lead inside) and the JSON's own time, if it has one.

    >>> field_of('{"log": {"message": "hi"}, "time": "2031-03-04T09:00:00Z"}', "log.message")
    ('hi', '2031-03-04T09:00:00Z')
    >>> field_of("not JSON", "message")
    (None, None)
    """
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(record, dict):
        return None, None
    value: Any = record.get(name)
    if value is None:
        value = record
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    return _text(value), next((record[key] for key in TIME_FIELDS if key in record), None)


def _text(value: Any) -> str | None:
    """A string; journald gives a list of bytes for what is not UTF-8."""
    if isinstance(value, str):
        return value.removesuffix("\n")  # docker keeps the newline
    if isinstance(value, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        return bytes(value).decode("utf-8", "surrogateescape")
    return None if value is None else json.dumps(value, ensure_ascii=False)


def time_of(line: str, given: Any, now: datetime) -> tuple[str, bool]:
    """When it happened, as ISO text, and whether the line says so (else it is when the line arrived).

    >>> time_of("Jun 14 15:16:01 combo sshd", None, datetime(2031, 6, 15, tzinfo=UTC))
    ('2031-06-14T15:16:01', True)
    """
    stated = _epoch(given) if isinstance(given, (int, float)) or str(given).isdecimal() else None
    for text in (str(given) if isinstance(given, str) else "", line[:LOOKED_AT]):
        stated = stated or _parsed(text, now)
    return (stated, True) if stated else (now.isoformat(timespec="milliseconds"), False)


def _parsed(text: str, now: datetime) -> str | None:
    try:
        if found := _ISO.search(text):
            when = datetime.fromisoformat(found[0].replace(",", ".").replace(" Z", "Z"))
            return when.isoformat(timespec="milliseconds" if when.microsecond else "auto")
        if found := _APACHE.search(text):
            form = "%d/%b/%Y:%H:%M:%S" + (" %z" if " " in found[0] else "")
            return datetime.strptime(found[0], form).isoformat()
        if found := _SYSLOG.search(text):
            return _syslog(" ".join(found[0].split()), now).isoformat()
    except ValueError:  # looks like a time and is none: 2031-99-99
        return None
    return None


def _syslog(text: str, now: datetime) -> datetime:
    """Syslog has no year: the latest that does not lie in the future."""
    if len(text.split()) == 4:
        return datetime.strptime(text, "%b %d %H:%M:%S %Y")
    found = datetime.strptime(f"{now.year} {text}", "%Y %b %d %H:%M:%S")
    return found if found <= now.replace(tzinfo=None) + timedelta(days=1) else found.replace(year=now.year - 1)


def _epoch(value: Any) -> str | None:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size."""
    seconds = float(value)
    while seconds > 1e11:
        seconds /= 1000
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, OSError, ValueError):
        return None
