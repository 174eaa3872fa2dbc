"""The anomalies of Brokers, and how they are found (`harness.spec.history.naming`).

Most names are those that Jepsen uses for logs of messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.spec.broker.history.log_spec import LOST, OVERDUE, PHANTOM_OFFSET, SKIPPED
from harness.spec.broker.history.operations import Append, End, Shown, unanswered
from harness.spec.broker.history.per_key import NEVER
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
            name=_DUPLICATE,
            kinds=("queue",),
            text="A message is shown at two offsets, although it was sent once.",
            statement="bk.send.is-stored-and-its-place-returned",
            argued=False,
        ),
        Anomaly(
            name=_INCONSISTENT,
            kinds=("queue",),
            text="Answers to sends and pulls disagree about which message is at an offset.",
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
            late="all",
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
            late="decisive",
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


def _contradiction(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """What answers contradict each other in, or show that no call has asked for."""
    return _unasked(calls) or _twice(calls) or _beyond(calls) or _misplaced(calls) or _out_of_turn(calls)


def _unasked(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Whether a reading shows what was refused, or was never sent or committed."""
    committed = {NEVER} | {call.action.value for call in calls if isinstance(call.action, Put)}
    refusals: dict[str, Call] = {}
    sent: set[str] = set()
    for call in calls:
        if isinstance(call.action, Append) and call.action.accepted is False:
            refusals |= dict.fromkeys(call.action.messages, call)
        elif isinstance(call.action, Append):
            sent.update(call.action.messages)
    for call in calls:
        if isinstance(call.action, Get) and call.action.value not in committed:
            return _PHANTOM_COMMIT, [call]
        for _, message in _shown(call):
            if message in refusals:
                return _ABORTED, [refusals[message], call]
            if message not in sent:
                return _PHANTOM, [call]
    return None


def _twice(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Whether a message is shown at two offsets."""
    offsets: dict[str, tuple[int, Call]] = {}
    for call in calls:
        for offset, message in _shown(call):
            place, before = offsets.setdefault(message, (offset, call))
            if place != offset:
                return _DUPLICATE, [call] if before is call else [before, call]
    return None


def _beyond(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Whether an offset is named that not even all messages lie before that were on their way by then."""
    sends = [call for call in calls if isinstance(call.action, Append) and call.action.accepted is not False]
    for call in calls:
        offset = call.action.offset if isinstance(call.action, Append | End) else None
        if offset is None:
            continue
        others = (one for one in sends if one is not call and one.begin <= call.end)
        if offset > sum(len(one.action.messages) for one in others):
            return PHANTOM_OFFSET, [call]
    return None


def _misplaced(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Whether an answer to a send is at odds with another answer."""
    messages: dict[int, tuple[str, Call]] = {}
    offsets: dict[str, tuple[int, Call]] = {}
    for call in sorted(calls, key=lambda one: one.reads):
        for offset, message in (*_told(call), *_shown(call)):
            other, before = messages.setdefault(offset, (message, call))
            if other != message:
                return _INCONSISTENT, [before, call]
            place, before = offsets.get(message, (offset, call))
            if place != offset:
                return _INCONSISTENT, [before, call]
        for offset, message in _told(call):
            offsets[message] = offset, call
    return None


def _out_of_turn(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Whether of two sends the earlier one has the greater offset, as was answered or is shown."""
    places = {message: (offset, call) for call in calls for offset, message in _shown(call)}
    found: list[tuple[Call, int, Call]] = []
    for call in calls:
        if isinstance(call.action, Append) and call.action.accepted:
            first, told = call.action.messages[0], call.action.offset
            offset, shows = places.get(first, (told, call)) if told is None else (told, call)
            if offset is not None:
                found.append((call, offset, shows))
    for one, offset, shows in found:
        for other, second, also in found:
            if one.end < other.begin and offset > second:
                decisive = {id(call): call for call in (one, other, shows, also)}
                return _REORDERED, list(decisive.values())
    return None


def _told(call: Call) -> list[tuple[int, str]]:
    """Where messages are, as a send was answered."""
    asked = call.action
    if not isinstance(asked, Append) or asked.offset is None:
        return []
    return [(asked.offset + number, message) for number, message in enumerate(asked.messages)]


def _shown(call: Call) -> Sequence[tuple[int, str]]:
    """Where messages are, as a reading shows."""
    return call.action.messages if isinstance(call.action, Shown) else ()


NAMING = Naming(anomalies=ANOMALIES, unanswered=unanswered, contradiction=_contradiction)

READINGS = {
    kind: frozenset(one.statement for one in ANOMALIES.values() if kind in one.kinds)
    for kind in ("queue", "offset")
}
"""By what a reading is of: the statements that a history is held against by it."""
