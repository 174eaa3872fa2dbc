"""What a command says: plain data, by the code of the request that it is or answers.

Cases, specification, comparisons and reports read answers through this module, so that a body means the same
to all of them. Reading is as lenient as clients are; `CommandView.dialect` and `is_standard` say what a
stricter reader may stumble over.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final, Literal

import msgspec

from harness.wire.bodies.json_body import NullBodyError
from harness.wire.bodies.nameserver.register import RegisterBody
from harness.wire.bodies.properties import Properties
from harness.wire.codes import RequestCode
from harness.wire.command import Command
from harness.wire.errors import WireError
from harness.wire.fastjson import ParseError, parse
from harness.wire.messages import Message, decode_messages
from harness.wire.requests import REQUESTS
from harness.wire.text import java_text
from harness.wire.versions import V5_0_0

Form = Literal["none", "json", "properties", "messages", "registration", "text", "bytes"]
BARE_NUMBER: Final = r"([{,])(-?\d+):"
"""A bare number as the name of a member of a JSON object."""
_BARE_NUMBER: Final = re.compile(BARE_NUMBER.encode())


class CommandView:
    """A command with its body as plain data."""

    def __init__(self, command: Command, form: Form, body: Any, problem: str | None) -> None:
        self.command = command
        self.form = form
        self.body = body
        """Of the types of JSON: a mapping for ``properties`` and a ``registration``, a list of mappings for
        ``messages``, a text for ``text`` and hexadecimal digits for ``bytes``; None for ``none``.
        """
        self.problem = problem
        """Why the body is not what its code lets expect; it is then shown as text or bytes."""

    @property
    def is_compressed(self) -> bool:
        """Whether the body of a registration claims to be compressed."""
        return _claims_compressed(self.command)

    @cached_property
    def dialect(self) -> tuple[str, ...]:
        """What of the way in which a JSON body is written a reader may stumble over."""
        data = self.command.body
        found = {
            "bare numbers as names": written_for_old_clients(data),
            "characters beyond ASCII as they are": not data.isascii(),
            "escaped slashes": b"\\/" in data,
        }
        return tuple(name for name, is_there in found.items() if is_there)

    @cached_property
    def is_standard(self) -> bool:
        """Whether any parser of standard JSON (RFC 8259) reads the body."""
        try:
            standard_json(self.command.body)
        except WireError:
            return False
        return True


def view(command: Command, asked: int | None) -> CommandView:
    """A command as plain data; ``asked`` is the code of the request, its own or the one that it answers.

    Never raises.
    """
    data = command.body
    if not data:
        return CommandView(command, "none", None, None)
    form = _form(command, asked)
    try:
        match form:
            case "registration":
                return CommandView(
                    command, form, msgspec.to_builtins(registration(command), str_keys=True), None
                )
            case "properties":
                return CommandView(command, form, settings(data), None)
            case "messages":
                return CommandView(command, form, [_message(one) for one in decode_messages(data)], None)
            case "json":
                return CommandView(command, form, json_value(data), None)
    except (WireError, NullBodyError, ParseError, ValueError, RecursionError) as problem:
        expected = "the JSON that it begins like" if form == "json" else f"as it should be: {problem}"
        return _raw(command, f"not {expected}")
    return _raw(command, None)


def registration(command: Command) -> RegisterBody:
    """The body of REGISTER_BROKER (103). Raises ``WireError``."""
    compressed = _claims_compressed(command)
    return RegisterBody.decode(
        command.body,
        compressed=compressed,
        version=command.version,
        v5=not compressed or command.version >= V5_0_0,
    )


def _claims_compressed(command: Command) -> bool:
    return ((command.ext or {}).get("compressed") or "").lower() == "true"


def settings(data: bytes) -> dict[str, str]:
    """Lines of a properties file, taken for UTF-8, escapes resolved. Raises ``WireError``."""
    return Properties.parse(java_text(data)).pairs


def json_value(data: bytes) -> Any:
    """A body of JSON as RocketMQ's servers write it; names are texts, bare numbers too.

    Raises ``ParseError``.
    """
    try:
        return msgspec.json.decode(_BARE_NUMBER.sub(rb'\1"\2":', data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return parse(data)


def standard_json(data: bytes) -> Any:
    """A body of JSON by RFC 8259. Raises ``WireError``."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise WireError(f"not standard JSON: {problem}") from problem


def written_for_old_clients(data: bytes) -> bool:
    """Whether bare numbers are names of members, which clients below 4.9.4 need and other parsers refuse."""
    return _BARE_NUMBER.search(data) is not None


def _form(command: Command, asked: int | None) -> Form:
    if asked == RequestCode.REGISTER_BROKER and not command.is_response:
        return "registration"
    known = None if asked is None else REQUESTS.get(asked)
    if known is not None:
        body = known.response_body if command.is_response else known.request_body
        if body == "properties":
            return "properties"
        if body == "messages":
            return "messages"
    return "json" if command.body.lstrip()[:1] in (b"{", b"[") else "text"


def _raw(command: Command, problem: str | None) -> CommandView:
    try:
        return CommandView(command, "text", command.body.decode(), problem)
    except UnicodeDecodeError:
        return CommandView(command, "bytes", command.body.hex(), problem)


def _message(message: Message) -> dict[str, Any]:
    return {
        "topic": message.topic,
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "flag": message.flag,
        "system flag": int(message.sys_flag),
        "tried": message.reconsume_times,
        "properties": dict(message.properties),
        "body": message.body.decode("utf-8", "backslashreplace"),
    }
