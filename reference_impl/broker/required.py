"""What a request must say: ext fields and bodies without which it cannot be carried out.

1. What is needed and missing, or not of its type, is refused with code 1, as Apache does by an exception; the
   remark is ours and says what was expected.
2. Apache's @CFNotNull refuses nothing: a field counts as needed only where it is used. In the headers that it
   reads fast (sends 310 and 320, pulls) a text that is no number is refused in any case; in all others it is
   as good as missing (`reference_impl.remoting.fields`).
3. The plain case is fast: these run for every send and every pull.

Source: FastCodesHeader, RemotingCommand#decodeCommandCustomHeader of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from typing import Any, Protocol, TypeVar

from harness.wire import Command, WireError
from harness.wire.fastjson import Engine, ParseError, tree
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


def text(ext: Ext, name: str) -> str:
    """A text. Raises RefusedError."""
    value = ext.get(name)
    if value is None:
        raise RefusedError(f"the custom field <{name}> is null")
    return value


def int32(ext: Ext, name: str) -> int:
    """An `int`. Raises RefusedError."""
    value = ext.get(name)
    if value is not None and len(value) < 10 and value.isascii() and value.isdecimal():
        return int(value)
    return _number(fields.int32(ext, name), ext, name)


def int64(ext: Ext, name: str) -> int:
    """A `long`. Raises RefusedError."""
    value = ext.get(name)
    if value is not None and len(value) < 19 and value.isascii() and value.isdecimal():
        return int(value)
    return _number(fields.int64(ext, name), ext, name)


def maybe_int32(ext: Ext, name: str) -> int | None:
    """An `int`, or None where there is none. Raises RefusedError for what is no number."""
    return None if ext.get(name) is None else int32(ext, name)


def maybe_int64(ext: Ext, name: str) -> int | None:
    """A `long`, or None where there is none. Raises RefusedError for what is no number."""
    return None if ext.get(name) is None else int64(ext, name)


def _number(found: int | None, ext: Ext, name: str) -> int:
    if found is None:
        raise RefusedError(f"the custom field <{name}> is {ext.get(name)!r:.60}: expected a whole number")
    return found


class Decode(Protocol[_T_co]):
    """What reads a body as a JSON engine does."""

    def __call__(self, data: bytes, /, *, engine: Engine) -> _T_co: ...


def body(command: Command, decode: Decode[_T], engine: Engine) -> _T:
    """The body of a request. Raises RefusedError."""
    try:
        return decode(command.body, engine=engine)
    except WireError as error:
        raise RefusedError(f"the body cannot be read: {error}") from error


def members(command: Command, engine: Engine) -> dict[str, Any]:
    """The members of a body; none where it is no object. Raises RefusedError for a body that is no JSON."""
    try:
        found = tree(command.body, engine)[0].to_value()
    except ParseError as error:
        raise RefusedError(f"the body cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}


def listed(command: Command, name: str, engine: Engine) -> list[Any]:
    """The list that is this member of a body; empty where it is none. Raises RefusedError as `members`."""
    value = members(command, engine).get(name)
    return value if isinstance(value, list) else []
