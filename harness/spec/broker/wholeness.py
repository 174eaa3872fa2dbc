"""Whether a message is what was sent, wherever it is shown."""

from __future__ import annotations

from math import inf
from zlib import crc32

from harness.program.broker.frames import body_of, born, properties_of
from harness.spec.broker.entries import Entry, Origin
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.wire import Command, WireError
from harness.wire.messages import Message, PropertyName, SysFlag, decode_messages

_CHANGED: dict[Origin, str] = {
    "send": "message-is-as-it-was-sent",
    "oneway": "message-is-as-it-was-sent",
    "dead": "message-is-as-it-was-sent",
    "delay": "delayed-keeps-the-message",
    "timer": "delayed-keeps-the-message",
    "commit": "commit-keeps-the-message",
    "retry": "retried-keeps-the-message",
    "copy": "copied-is-as-it-was",
}
_ENDS = SysFlag.TRANSACTION_ROLLBACK.value


class Wholeness:
    """Of the messages of one Broker."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._epoch = (-inf, inf)
        """Between these two it was, in seconds of the Broker's own, when its clock began here."""

    def judge(self, entry: Entry, shown: Message) -> None:
        """Whether a message that was shown is that of an entry. Raises `InvariantError`."""
        send, names = entry.send, self._ledger.names
        body = body_of(entry.message, send.size, names)
        name = _CHANGED[entry.origin]
        self._ledger.held |= {name, "message-has-its-checksum"}
        self._ledger.held |= {"body-is-as-it-was-sent"} if entry.origin in ("send", "oneway") else set()
        self._ledger.held |= {"retried-is-counted"} if entry.tried else set()
        self._ledger.held |= {"message-is-where-its-id-says"} if entry.log is not None else set()
        if shown.body != body:
            name = "body-is-as-it-was-sent" if entry.origin in ("send", "oneway") else name
            raise InvariantError(name, repr(body[:80]), repr(shown.body[:80]))
        for key, value in properties_of(send, entry.message, names).items():
            if shown.properties.get(key) != value:
                raise InvariantError(name, f"property {key}={value}", f"{key}={shown.properties.get(key)}")
        said = ("flag", shown.flag, send.flag)
        when = ("born timestamp", shown.born_timestamp, born(send.message, names))
        for what, is_so, should in (said, when):
            if is_so != should:
                raise InvariantError(name, f"{what} {should}", f"{is_so}")
        if shown.reconsume_times != entry.tried:
            raise InvariantError(
                "retried-is-counted", f"reconsumeTimes {entry.tried}", str(shown.reconsume_times)
            )
        if entry.log is not None and shown.physical_offset != entry.log:
            raise InvariantError(
                "message-is-where-its-id-says", f"log offset {entry.log}", str(shown.physical_offset)
            )
        if shown.body_crc != crc32(shown.body) & 0x7FFFFFFF:
            raise InvariantError(
                "message-has-its-checksum", f"{crc32(shown.body) & 0x7FFFFFFF}", f"{shown.body_crc}"
            )
        is_committed = entry.origin == "commit" or (entry.origin == "copy" and send.half)
        ended = SysFlag.TRANSACTION_COMMIT.value if is_committed else 0
        if shown.sys_flag & _ENDS != ended:
            raise InvariantError(name, f"system flag with {ended}", f"{shown.sys_flag}")
        is_bare = bool(send.more) and self._ledger.line.has("bare-batches")
        self._ledger.held |= {"message-has-its-cluster"} if not is_bare else set()
        if PropertyName.CLUSTER not in shown.properties and not is_bare:
            raise InvariantError(
                "message-has-its-cluster", PropertyName.CLUSTER, f"{sorted(shown.properties)}"
            )
        if entry.origin in ("send", "oneway") and not send.more:
            self._has_no_others(entry, shown)
        if entry.host is not None and shown.store_host != entry.host:
            raise InvariantError("message-is-where-its-id-says", f"store host {entry.host}", shown.store_host)
        if entry.told and not self._ledger.lag:
            self.was_stored(entry, shown.store_timestamp, "stored-at-its-time")

    def moment_of(self, timestamp: int) -> tuple[float, float]:
        """Between which moments a Broker's time is, in ms, as far as its clock is known."""
        least, most = self._epoch
        return timestamp / 1000 - most, timestamp / 1000 - least

    def _has_no_others(self, entry: Entry, shown: Message) -> None:
        """Whether a message that was only stored has the properties of its producer and of the Broker."""
        expected = {PropertyName.CLUSTER, *properties_of(entry.send, entry.message, self._ledger.names)}
        if self._ledger.line.has("told-region"):
            expected |= {PropertyName.MSG_REGION, PropertyName.TRACE_SWITCH}
        if entry.send.after:  # timers are nothing to 4.9
            expected.add(PropertyName.TIMER_DELAY_SEC)
        if not entry.send.waits:  # a word to the Broker, which not every line stores
            expected |= {PropertyName.WAIT_STORE_MSG_OK} & set(shown.properties)
        self._ledger.held.add("message-has-no-other-properties")
        if set(shown.properties) != expected:
            raise InvariantError(
                "message-has-no-other-properties", f"{sorted(expected)}", f"{sorted(shown.properties)}"
            )

    def was_stored(self, entry: Entry, timestamp: int, name: str) -> None:
        """Whether a Broker tells times of one clock, of which this one, in ms, is that of an entry. Raises
        `InvariantError` of that name.
        """
        at = timestamp / 1000
        self._ledger.held.add(name)
        least, most = self._epoch
        least, most = max(least, at - entry.latest - 0.001), min(most, at - entry.earliest + 0.001)
        if least > most:
            raise InvariantError(name, "a time of storage between send and answer", f"{at}")
        self._epoch = least, most


def messages_of(answer: Command) -> list[Message]:
    """The messages in an answer. Raises `InvariantError`."""
    try:
        return decode_messages(answer.body)
    except WireError as problem:
        raise InvariantError("messages-can-be-read", "messages", str(problem)) from None


def number_of(answer: Command, name: str) -> int:
    """A number among the ext fields of an answer. Raises `InvariantError`."""
    text = (answer.ext or {}).get(name)
    try:
        return int(text or "")
    except ValueError:
        raise InvariantError("pull-is-answered", f"{name} with a number", str(text)) from None
