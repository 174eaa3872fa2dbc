"""The anomalies of Brokers, and how they are found (`harness.spec.history.naming`).

Most names are those that Jepsen uses for logs of messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.spec.broker.history.log_spec import LOST, OVERDUE, PHANTOM_OFFSET, SKIPPED
from harness.spec.broker.history.operations import Append, unanswered
from harness.spec.broker.history.per_key import NEVER, shown_by
from harness.spec.history.naming import NONE, Anomaly, Naming
from harness.spec.history.register import Get, Put
from harness.spec.linear import Call

LOST_COMMIT = "lost commit"

_PHANTOM = "phantom message"
_ABORTED = "aborted read"
_INCONSISTENT = "inconsistent offsets"
_DUPLICATE = "duplicate message"
_REORDERED = "reordered sends"
_PHANTOM_COMMIT = "phantom commit"

ANOMALIES: dict[str, Anomaly] = {
    anomaly.name: anomaly
    for anomaly in (
        Anomaly(
            name=_PHANTOM,
            kinds=("queue",),
            text="A message is shown that was never sent to the queue.",
            statement="bk.pull.messages-from-an-offset-on",
            argued=False,
        ),
        Anomaly(
            name=_ABORTED,
            kinds=("queue",),
            text="A message is shown although its send was refused.",
            statement="bk.send.queue-beyond-the-topic-is-refused",
            argued=False,
        ),
        Anomaly(
            name=_INCONSISTENT,
            kinds=("queue",),
            text="Two messages are at one offset, as answers to sends and pulls say.",
            statement="bk.send.is-stored-and-its-place-returned",
            argued=False,
        ),
        Anomaly(
            name=_DUPLICATE,
            kinds=("queue",),
            text="A message is at two offsets, although it was sent once.",
            statement="bk.send.is-stored-and-its-place-returned",
            argued=False,
        ),
        Anomaly(
            name=_REORDERED,
            kinds=("queue",),
            text=(
                "A send was answered before another began, and yet its message has the greater offset of the"
                " two."
            ),
            statement="bk.storage.offsets-are-consecutive",
            argued=False,
        ),
        Anomaly(
            name=PHANTOM_OFFSET,
            kinds=("queue", "end"),
            text="An offset is answered that is beyond all the messages that the queue can have had by then.",
            statement="bk.storage.offsets-are-consecutive",
        ),
        Anomaly(
            name=LOST,
            kinds=("queue",),
            text="A send was answered with success, and no reading ever shows its message.",
            statement="bk.send.is-stored-and-its-place-returned",
        ),
        Anomaly(
            name=SKIPPED,
            kinds=("queue",),
            text="A pull passes over a message that others show.",
            statement="bk.pull.messages-from-an-offset-on",
        ),
        Anomaly(
            name=OVERDUE,
            kinds=("queue", "end"),
            text="A message is not visible yet although its send was answered long before.",
            statement="bk.send.is-stored-and-its-place-returned",
        ),
        Anomaly(
            name="nonmonotonic read",
            kinds=("queue", "end"),
            text="A reading shows less of a queue than an earlier one had shown.",
            statement="bk.pull.messages-from-an-offset-on",
            late=True,
        ),
        Anomaly(
            name=_PHANTOM_COMMIT,
            kinds=("offset",),
            text="A group has an offset that it never committed.",
            statement="bk.offset.is-what-was-committed",
            argued=False,
        ),
        Anomaly(
            name=LOST_COMMIT,
            kinds=("offset",),
            text=(
                "An offset was committed, but everything that follows looks as if that had not happened, or "
                "had been undone."
            ),
            statement="bk.offset.is-what-was-committed",
        ),
        Anomaly(
            name="stale commit",
            kinds=("offset",),
            text="One answer shows an offset that had been replaced before; the others show the current one.",
            statement="bk.offset.is-what-was-committed",
            late=True,
        ),
        Anomaly(
            name=NONE,
            kinds=("queue", "end", "offset"),
            text="No order of the requests explains the answers, whichever single fault is excused.",
            statement="bk.send.is-stored-and-its-place-returned",
            argued=False,
        ),
    )
}


def _alone(calls: Sequence[Call], decisive: Sequence[Call]) -> str | None:
    """What answers contradict each other in, or show that no call has asked for."""
    return _of_offsets(calls, decisive) or _of_messages(calls, decisive) or _of_sends(decisive)


def _of_offsets(calls: Sequence[Call], decisive: Sequence[Call]) -> str | None:
    committed = {NEVER} | {call.action.value for call in calls if isinstance(call.action, Put)}
    read = {call.action.value for call in decisive if isinstance(call.action, Get)}
    return None if read <= committed else _PHANTOM_COMMIT


def _of_messages(calls: Sequence[Call], decisive: Sequence[Call]) -> str | None:
    places = shown_by(decisive)
    sends = [call.action for call in calls if isinstance(call.action, Append)]
    refused = {message for send in sends if send.accepted is False for message in send.messages}
    sent = {message for send in sends for message in send.messages} - refused
    if any(message in refused for message in places):
        return _ABORTED
    if any(message not in sent for message in places):
        return _PHANTOM
    for call in decisive:
        if isinstance(call.action, Append) and call.action.offset is not None:
            for number, message in enumerate(call.action.messages):
                places[message].add(call.action.offset + number)
    at: dict[int, set[str]] = defaultdict(set)
    for message, offsets in places.items():
        for offset in offsets:
            at[offset].add(message)
    if any(len(messages) > 1 for messages in at.values()):
        return _INCONSISTENT
    return _DUPLICATE if any(len(offsets) > 1 for offsets in places.values()) else None


def _of_sends(decisive: Sequence[Call]) -> str | None:
    """Whether two sends are in the wrong order, by what was answered or is shown."""
    places = {message: min(offsets) for message, offsets in shown_by(decisive).items()}
    found = []
    for call in decisive:
        if isinstance(call.action, Append):
            offset = call.action.offset
            if offset is None:
                offset = places.get(call.action.messages[0])
            if offset is not None:
                found.append((call, offset))
    if any(one.end < other.begin and first > second for one, first in found for other, second in found):
        return _REORDERED
    return None


NAMING = Naming(anomalies=ANOMALIES, unanswered=unanswered, alone=_alone)

READINGS = {
    kind: frozenset(one.statement for one in ANOMALIES.values() if kind in one.kinds)
    for kind in ("queue", "offset")
}
"""By what a reading is of: the statements that a history is held against by it."""
