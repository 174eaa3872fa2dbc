"""The exchange that shows a divergence, taken from the attempt that confirmed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.engine.peer.causes import Seen
from harness.engine.peer.differences import Difference, Fact, said_code
from harness.engine.peer.explaining import Divergence
from harness.engine.peer.special import what_of
from harness.findings.experiment import Attempt
from harness.findings.words import step_words
from harness.program.step import Request
from harness.program.steps import AnyStep
from harness.report.divergence import Decisive, Exchange, Message, message_of
from harness.report.text import visible
from harness.spec import Answered, Ended, Garbled, Observation, Unanswered
from harness.spec.observation import Outcome
from harness.trace import Sent, Trace
from harness.wire import Command, FrameBuffer, WireError, dissect

_SHOWN = 8
"""Facts that are named."""
_LONGEST = 200


def exchange_of(program: Sequence[AnyStep], attempt: Attempt, found: Divergence, seen: Seen) -> Exchange:
    """What shows ``seen`` in an attempt of a program that came to a divergence."""
    symbols = _symbols(attempt.trace)
    asked = [one for one in attempt.observed if one.number == found.index and what_of(one.step) == seen.asked]
    a, b = ([one for one in asked if one.server == server] for server in (0, 1))
    request = _request(attempt.trace, [*a[-1:], *b[-1:]])
    code = None if request is None else int(request.code)
    sent = Message(title=step_words(found.step)) if request is None else message_of(request, code, symbols)
    words = step_words(a[-1].step if a else found.step)
    decisive = _decisive(found, seen)
    ours, theirs = (_answer(side[-1].outcome if side else None, code, symbols) for side in (a, b))
    return Exchange(
        before=tuple(step_words(step) for step in program[: found.index + found.settling]),
        step=words if not found.settling else f"{words} (what is seen then)",
        sent=sent,
        a=ours,
        b=theirs,
        decisive=tuple(decisive[:_SHOWN]),
        more=max(0, len(decisive) - _SHOWN),
    )


def _symbols(trace: Trace) -> dict[str, str]:
    symbols = dict(trace.header.names)
    # The address of replication is the broker's, with one more digit.
    return symbols | {
        f"{name}1": f"{symbol}:ha" for name, symbol in symbols.items() if name.startswith("10.")
    }


def _request(trace: Trace, asked: Sequence[Observation]) -> Command | None:
    for one in asked:
        if not isinstance(one.step, Request) or not 0 <= one.asked < len(trace.events):
            continue
        event = trace.events[one.asked]
        if not isinstance(event, Sent):
            continue
        commands = list(_commands(event.data))
        opaque = one.outcome.command.opaque if isinstance(one.outcome, Answered) else None
        fitting = [command for command in commands if command.opaque == opaque] or [
            command for command in commands if what_of(one.step).endswith(f"({int(command.code)})")
        ]
        if fitting or commands:
            return (fitting or commands)[-1]
    return None


def _commands(data: bytes) -> Iterator[Command]:
    buffer = FrameBuffer()
    buffer.feed(data)
    try:
        while (frame := buffer.next_frame()) is not None:
            if (command := dissect(frame).command) is not None:
                yield command
    except WireError:
        return


def _answer(outcome: Outcome, asked: int | None, symbols: dict[str, str]) -> Message:
    match outcome:
        case Answered():
            return message_of(outcome.command, asked, symbols)
        case Ended():
            return Message(title="closes the connection")
        case Garbled():
            return Message(title=f"bytes that are no command: {visible(outcome.problem)}")
        case Unanswered():
            return Message(title="no answer")
    return Message(title="no answer is due")


def _decisive(found: Divergence, seen: Seen) -> list[Decisive]:
    said: list[Decisive] = []
    kinds = {one.kind for one in found.news if one.asked == seen.asked}
    for one in found.differences:
        if not kinds.intersection(one.kinds):
            continue
        for decisive in _by_path(one):
            if decisive not in said:
                said.append(decisive)
    return said


def _by_path(one: Difference) -> Iterator[Decisive]:
    """The facts of a field; what only one side says is absent from the other."""
    if one.field == "code":
        codes = [" ".join(_code(fact) for fact in facts) for facts in (one.a, one.b)]
        yield Decisive(what="code", a=codes[0], b=codes[1])
        return
    places: dict[Fact, tuple[list[str], list[str]]] = {}
    for side, facts in enumerate((one.a, one.b)):
        for fact in facts:
            places.setdefault(fact[:-1], ([], []))[side].append(fact[-1])
    for place, (a, b) in places.items():
        what = "/".join((one.field, *place))
        yield Decisive(what=visible(what), a=_value(a), b=_value(b))


def _code(fact: Fact) -> str:
    return said_code(int(fact[-1])) if fact[-1].lstrip("-").isdigit() else "none"


def _value(values: Sequence[str]) -> str:
    text = visible(", ".join(values)) if values else "absent"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
