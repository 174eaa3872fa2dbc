"""Tables as files below the root directory, the way Apache's Broker writes and reads them.

Invariants:
- Pure functions of text: writing a file, and copying the one before it to NAME.bak, is the caller's.
- Where a file is missing, empty or no table, NAME.bak is read instead. If one of them is there and neither is
  a table, that is refused: Apache's Broker begins without a table then, and forgets what it held.

Source: ConfigManager, MixAll#string2File of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; fastjson 1.2.83 with
PrettyFormat, from files that these Brokers wrote (fixtures/tables).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

from harness.wire import WireError
from harness.wire.fastjson import dumps, quote
from reference_impl.remoting.errors import ConfigError

T = TypeVar("T")


class FileText:
    """What `as_file` gives of a document, by `bytes(text)`. It is made then, and once.

    A table that grows is written anew at each change, and often replaced before anything reads it. What
    `document` reads must not change.
    """

    def __init__(self, document: Callable[[], Mapping[Any, Any]]) -> None:
        self._document = document

    @cached_property
    def _text(self) -> bytes:
        return as_file(self._document())

    def __bytes__(self) -> bytes:
        return self._text


def as_file(document: Mapping[Any, Any]) -> bytes:
    """The text of a file: members of objects on lines of their own, after as many tabs as they are deep."""
    return _object(document, 0)


def stored_table(stored: Mapping[str, bytes], name: str, decode: Callable[[bytes], T]) -> T | None:
    """The table of the file with that name, read by `decode`; None: there is none. Raises ConfigError."""
    fault: WireError | None = None
    for file in (name, f"{name}.bak"):
        if stored.get(file, b"").strip():
            try:
                return decode(stored[file])
            except WireError as error:
                fault = fault or error
    if fault is not None:
        raise ConfigError(
            f"{name} cannot be read ({fault}), and {name}.bak neither: put one of them back, or delete both"
            " to begin without what they held"
        )
    return None


def _object(members: Mapping[Any, Any], depth: int) -> bytes:
    """Numeric names are written without quotes, and on one line."""
    if not members:
        return b"{}"
    indent = b"\n" + b"\t" * (depth + 1)
    lines = [
        b"%d:%b" % (name, _value(value, depth + 1))
        if isinstance(name, int)
        else b"%b%b:%b" % (indent, _text(name), _value(value, depth + 1))
        for name, value in members.items()
    ]
    return b"{" + b",".join(lines) + b"\n" + b"\t" * depth + b"}"


def _value(value: object, depth: int) -> bytes:
    if isinstance(value, dict):
        return _object(value, depth)
    scalar = _SCALARS.get(type(value))
    return dumps(value, "legacy") if scalar is None else scalar(value)


# A table is written whole at each change, and nearly all of its texts were written the last time.
_text = lru_cache(maxsize=4096)(quote)
_SCALARS: Final[dict[type, Callable[[Any], bytes]]] = {
    str: _text,
    int: b"%d".__mod__,
    bool: {True: b"true", False: b"false"}.__getitem__,
}
