"""What the tests of messages that move between topics have in common."""

from collections.abc import Mapping
from typing import Any

from harness.wire import RequestCode
from harness.wire.messages import Message, decode_message, encode_properties
from reference_impl.broker.outbox import Saving
from reference_impl.broker.store import MemoryStorage
from reference_impl.remoting.reply import Reply

from .driver import Asked, make_broker


def sent(one: Asked, topic: str = "T", body: bytes = b"hello", **more: Any) -> Reply:
    """The answer to a send; `properties`, `queue`, `flags`, `times`, `most` say more about the message."""
    properties: Mapping[str, str] = more.pop("properties", {})
    ext = {
        "a": "PG",
        "b": topic,
        "c": "TBW102",
        "d": 4,
        "e": more.pop("queue", 0),
        "f": more.pop("flags", 0),
        "g": one.now,
        "h": 0,
        "i": encode_properties(properties, v5=True),
        "j": more.pop("times", 0),
        "l": more.pop("most", 16),
    }
    reply = one.ask(RequestCode.SEND_MESSAGE_V2, ext, body, version=409, **more)
    assert reply is not None
    return reply


def place(reply: Reply) -> int:
    """Where in the log the message is that an answer to a send names."""
    assert reply.ext is not None
    return int((reply.ext["msgId"] or "")[16:], 16)


def queue_of(one: Asked, topic: str, queue: int = 0) -> list[Message]:
    """All messages of a queue."""
    store = one.broker.store
    offset, found = store.min_offset(topic, queue), []
    while frames := (got := store.get(topic, queue, offset, 32)).frames:
        found += map(decode_message, frames)
        offset = got.next_offset
    return found


class Lasting:
    """A Broker that can be started again with what it has stored and written."""

    def __init__(self, profile: str, **settings: Any) -> None:
        self._profile, self._settings = profile, settings
        self._storage = MemoryStorage()
        self._files: dict[str, bytes] = {}
        self.one = make_broker(profile, storage=self._storage, **settings)

    def restart(self, *, cleanly: bool = False) -> Asked:
        """Ends it, by a crash unless `cleanly`, and starts it a second later."""
        if cleanly:
            self.one.broker.stop(self.one.now)
        self.one.broker.store.commit()
        self._files |= {saving.name: bytes(saving.data) for saving in self.one.taken(Saving)}
        self.one = make_broker(
            self._profile,
            stored=self._files,
            storage=self._storage,
            started=self.one.now + 1_000,
            **self._settings,
        )
        return self.one
