"""Faults that an attacker looks for."""

import zlib

from harness.wire import Command, FrameBuffer, ResponseCode, WireError
from reference_impl.mutants.registry import family, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.kv import KvTable
from reference_impl.nameserver.state import Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

_CREATE_TOPIC = 17
"""UPDATE_AND_CREATE_TOPIC."""
_CHANGE_CONFIGURATION = 25
"""UPDATE_BROKER_CONFIG."""
_BEARABLE = 16 << 20
_DEEP = b"[" * 1000, b'{"a":' * 1000


@family(Endpoint.answer)
def _stopping(fatal, original, self, connection, frame, now):
    """Answer nothing more after a frame that is fatal; one that cannot be read is no command."""
    if "stopped" in self.__dict__:
        return None
    try:
        command = self.read(frame)
    except WireError:
        command = None
    if fatal(frame, command):
        self.__dict__["stopped"] = True
        return None
    return original(self, connection, frame, now)


def _inflated(command: Command | None) -> bytes:
    """The first bytes of a compressed body; none of any other."""
    if command is None or not fields.boolean(command.ext, "compressed"):
        return b""
    try:
        return zlib.decompressobj().decompress(command.body, _BEARABLE)
    except zlib.error:
        return b""


@_stopping("A body that inflates to 16 MiB or more stops the server.")
def inflating_body_stops_the_server(frame, command):
    return len(_inflated(command)) == _BEARABLE


@_stopping("A negative length word in an inflated body stops the server.")
def length_words_stop_the_server(frame, command):
    return b"\xff\xff\xff\xff" in _inflated(command)


@_stopping("A deeply nested body stops the server.")
def deep_body_stops_the_server(frame, command):
    return command is not None and any(deep in command.body for deep in _DEEP)


@_stopping("A deeply nested header stops the server.")
def deep_header_stops_the_server(frame, command):
    return command is None and any(deep in frame for deep in _DEEP)


@_stopping("A body that names a class to load stops the server.")
def class_names_stop_the_server(frame, command):
    return command is not None and b'"@type"' in command.body


@_stopping("More than 4096 ext fields stop the server.")
def colliding_names_stop_the_server(frame, command):
    return command is not None and len(command.ext or ()) > 4096


@_stopping("A header of half a MiB stops the server.")
def long_names_stop_the_server(frame, command):
    return command is not None and len(frame) - len(command.body) > 1 << 19


@mutant(Endpoint.frames, "The server accepts no frame while 16 announced frames are incomplete.")
def announced_bytes_are_set_aside(original, self, buffer, data):
    buffers: dict[int, FrameBuffer] = self.__dict__.setdefault("buffers", {})
    buffers[id(buffer)] = buffer
    if sum(one.pending > 0 for one in buffers.values()) > 16:
        raise WireError("no memory is left")
    yield from original(self, buffer, data)


@mutant(KvTable.get, "A key that looks like a file path returns the content of that file.")
def path_like_keys_are_read_as_files(original, self, namespace, key):
    if key is not None and key.endswith("/etc/passwd"):
        return "root:x:0:0"
    return original(self, namespace, key)


@mutant(NameServer.route, "Path elements are removed from topic names.")
def path_like_topics_lose_their_dots(original, self, topic):
    return original(self, topic.replace("../", "").lstrip("/"))


@mutant(
    NameServer.unknown_request,
    "A Broker's request to create a topic is executed for every broker.",
)
def code_17_creates_topics(original, self, command):
    topic = fields.text(command.ext, "topic")
    if command.code == _CREATE_TOPIC and topic is not None:
        self.routes.topics[topic] = {name: Queue(8, 8, 6, 0) for name in self.routes.brokers}
        self.routes.revision += 1
    return original(self, command)


@mutant(NameServer.unknown_request, "A request to change a Broker's configuration succeeds.")
def code_25_is_served(original, self, command):
    if command.code == _CHANGE_CONFIGURATION:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command)
