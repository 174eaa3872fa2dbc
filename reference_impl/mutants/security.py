"""Faults that somebody who means harm looks for."""

import zlib
from collections.abc import Callable, Iterator

from harness.wire import Command, FrameBuffer, ResponseCode, WireError
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.kv import KvTable
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.state import Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

_CREATE_TOPIC = 17
"""UPDATE_AND_CREATE_TOPIC."""
_CHANGE_CONFIGURATION = 25
"""UPDATE_BROKER_CONFIG."""
_BEARABLE = 16 << 20
_DEEP = b"[" * 1000, b'{"a":' * 1000


def _stopping(parts: Parts, fatal: Callable[[bytes, Command | None], bool]) -> Parts:
    """Parts that answer nothing more after a frame that is fatal; one that cannot be read is no command."""

    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        if "stopped" in self.__dict__:
            return None
        try:
            command = self.read(frame)
        except WireError:
            command = None
        if fatal(frame, command):
            self.__dict__["stopped"] = True
            return None
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


def _inflated(command: Command | None) -> bytes:
    """The first bytes of a compressed body; none of any other."""
    if command is None or not fields.boolean(command.ext, "compressed"):
        return b""
    try:
        return zlib.decompressobj().decompress(command.body, _BEARABLE)
    except zlib.error:
        return b""


@mutant(
    "inflating-body-stops-the-server", "A body that inflates to 16 MiB or more is the last thing it reads."
)
def inflating_body_stops_the_server(parts: Parts) -> Parts:
    return _stopping(parts, lambda _, command: len(_inflated(command)) == _BEARABLE)


@mutant(
    "length-words-stop-the-server", "A negative length word in an inflated body is the last thing it reads."
)
def length_words_stop_the_server(parts: Parts) -> Parts:
    return _stopping(parts, lambda _, command: b"\xff\xff\xff\xff" in _inflated(command))


@mutant("deep-body-stops-the-server", "A body that is nested deeply is the last thing it reads.")
def deep_body_stops_the_server(parts: Parts) -> Parts:
    def fatal(frame: bytes, command: Command | None) -> bool:
        return command is not None and any(deep in command.body for deep in _DEEP)

    return _stopping(parts, fatal)


@mutant("deep-header-stops-the-server", "A header that is nested deeply is the last thing it reads.")
def deep_header_stops_the_server(parts: Parts) -> Parts:
    return _stopping(parts, lambda frame, command: command is None and any(deep in frame for deep in _DEEP))


@mutant("class-names-stop-the-server", "A body that names a class to be loaded is the last thing it reads.")
def class_names_stop_the_server(parts: Parts) -> Parts:
    return _stopping(parts, lambda _, command: command is not None and b'"@type"' in command.body)


@mutant("colliding-names-stop-the-server", "More than 4096 ext fields are the last thing it reads.")
def colliding_names_stop_the_server(parts: Parts) -> Parts:
    return _stopping(parts, lambda _, command: command is not None and len(command.ext or ()) > 4096)


@mutant("long-names-stop-the-server", "A header of half a MiB is the last thing it reads.")
def long_names_stop_the_server(parts: Parts) -> Parts:
    def fatal(frame: bytes, command: Command | None) -> bool:
        return command is not None and len(frame) - len(command.body) > 1 << 19

    return _stopping(parts, fatal)


@mutant("announced-bytes-are-set-aside", "Beside 16 frames that are announced and have not come no other is.")
def announced_bytes_are_set_aside(parts: Parts) -> Parts:
    def frames(self: Endpoint, buffer: FrameBuffer, data: bytes) -> Iterator[bytes]:
        buffers: dict[int, FrameBuffer] = self.__dict__.setdefault("buffers", {})
        buffers[id(buffer)] = buffer
        if sum(one.pending > 0 for one in buffers.values()) > 16:
            raise WireError("no memory is left")
        yield from parts.endpoint.frames(self, buffer, data)

    return parts.override("endpoint", frames)


@mutant("path-like-keys-are-read-as-files", "A key that looks like the path of a file gives what is in it.")
def path_like_keys_are_read_as_files(parts: Parts) -> Parts:
    def get(self: KvTable, namespace: str | None, key: str | None) -> str | None:
        if key is not None and key.endswith("/etc/passwd"):
            return "root:x:0:0"
        return parts.kv.get(self, namespace, key)

    return parts.override("kv", get)


@mutant("path-like-topics-lose-their-dots", "Elements of a path are taken out of the names of topics.")
def path_like_topics_lose_their_dots(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> object:
        return parts.nameserver.route(self, topic.replace("../", "").lstrip("/"))

    return parts.override("nameserver", route)


@mutant(
    "code-17-creates-topics", "The creation of a topic, a broker's request, is carried out for every broker."
)
def code_17_creates_topics(parts: Parts) -> Parts:
    def unknown_request(self: NameServer, command: Command) -> Reply | None:
        topic = fields.text(command.ext, "topic")
        if command.code == _CREATE_TOPIC and topic is not None:
            self.routes.topics[topic] = {name: Queue(8, 8, 6, 0) for name in self.routes.brokers}
            self.routes.revision += 1
        return parts.nameserver.unknown_request(self, command)

    return parts.override("nameserver", unknown_request)


@mutant("code-25-is-served", "The change of a broker's configuration is answered with success.")
def code_25_is_served(parts: Parts) -> Parts:
    def unknown_request(self: NameServer, command: Command) -> Reply | None:
        if command.code == _CHANGE_CONFIGURATION:
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unknown_request(self, command)

    return parts.override("nameserver", unknown_request)
