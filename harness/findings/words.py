"""A program in words: what was done, by whom, when, what was answered, and which answer decides.

Pure; what is plain is not said; names are the symbols of the program, and a legend says
what they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.findings.experiment import Attempt
from harness.program.broker.filters import Filter, text_of
from harness.program.broker.steps import Hear, NameServer
from harness.program.frames import code_of
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.program.steps import TITLES, AnyQuestion, AnyStep
from harness.report.frames import as_text, describe
from harness.report.text import visible
from harness.spec import Answered, Ended, Garbled, Observation, Unanswered, Violation
from harness.spec.observation import Copied, Heard, TakenOver
from harness.wire import Command
from harness.wire.code_names import request_name

_BODY = 400
_ENDS = {"fin": "closes", "reset": "resets", "half": "ends its sending direction of"}
_ALWAYS = {
    "register": ("broker", "address", "id", "cluster", "topics", "counter"),
    "unregister": ("broker", "address", "id", "cluster"),
    "heartbeat": ("broker", "address", "id", "cluster"),
    "query-version": ("broker", "address", "cluster", "counter"),
    "route": ("topic",),
    "member-group": ("cluster", "broker"),
    "permission": ("broker",),
    "delete-topic": ("topic",),
    "register-topic": ("topic", "queues"),
    "topics-of-cluster": ("cluster",),
    "kv": ("namespace", "key"),
    "switch": ("role",),
    "allow": ("what", "allowed"),
    "recall": ("message", "topic"),
}
"""Fields that a person wants to see even where they are the plainest."""


def decisive_event(attempt: Attempt, violation: Violation) -> int | None:
    """The event of the trace that shows a violation: what came, or else the request that nothing came to."""
    found: int | None = None
    for seen in attempt.observed:
        if seen.number != violation.number:
            continue
        event = getattr(seen.outcome, "event", -1)
        found = event if event >= 0 else seen.asked if seen.asked >= 0 else found
    return found


_MANNERS = {
    "well": "does well again",
    "knows": "does well, and says that nothing has changed",
    "down": "goes down",
    "silent": "no longer answers registrations, nor their end",
    "refuses": "refuses registrations",
}


def step_words(step: AnyStep) -> str:
    """One step: ``REGISTER_BROKER (103): broker b0, address a0, id 0, topics T0``."""
    match step:
        case Time():
            idle = f"; {', '.join(step.idle)} idle, all others kept busy" if step.idle else ""
            return f"{step.seconds} s of protocol time pass{idle}"
        case Close():
            return f"{_ENDS[step.how]} the connection"
        case Reconnect():
            return f"connects anew while its old connection stays open as {step.old}"
        case Restart():
            done = "killed" if step.how == "kill" else "asked to stop"
            return f"the server is {done} and started again"
        case NameServer():
            return f"NameServer {step.which + 1} {_MANNERS[step.manner]}"
        case Hear():
            return "looks at what NameServers have heard"
    tag = str(type(step).__struct_config__.tag)
    code = code_of(step) if isinstance(step, AnyQuestion) else 0
    title = f"{request_name(code)} ({code})" if request_name(code) else TITLES[type(step)]
    facts = ", ".join(_facts(step, _ALWAYS.get(tag, ())))
    return f"{title}{': ' if facts else ''}{facts}"


def _facts(step: msgspec.Struct, always: Sequence[str]) -> Iterator[str]:
    fields = {field.name: field for field in msgspec.structs.fields(step)}
    for name in (*always, *(name for name in fields if name not in always)):
        if name not in fields or name in ("conn", "server") or (name == "code" and "code" not in always):
            continue
        value, field = getattr(step, name), fields[name]
        plain = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        if name in always or value != plain:
            yield f"{name.replace('_', ' ')} {_value(name, value)}"


def _value(name: str, value: object) -> str:
    if isinstance(value, dict):
        return " and ".join(f"{key} ({_value('', item)})" for key, item in value.items()) or "none"
    if isinstance(value, Filter):
        return text_of(value)
    if isinstance(value, msgspec.Struct):
        always = ("code",) if hasattr(value, "code") else ()
        facts = ", ".join(_facts(value, always))  # a damage, or a request within a step
        return f"{value.__struct_config__.tag}{' (' + facts + ')' if facts else ''}"
    if isinstance(value, tuple):
        return "/".join(_value("", item) for item in value) or "none"
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return str(value)


def step_list(program: Sequence[AnyStep], attempt: Attempt, violation: Violation) -> str:
    """The step list of a finding, and behind it every frame of its trace."""
    header = attempt.trace.header
    decisive = decisive_event(attempt, violation)
    names = "".join(f"  {symbol:<6} {name}\n" for name, symbol in _legend(header.names))
    frames = as_text(attempt.trace.events, decisive)
    return (
        f"{violation.statement}: {violation.invariant}\n"
        f"{'  ' + violation.anomaly + chr(10) if violation.anomaly else ''}"
        f"  expected   {_wrapped(violation.expected)}\n"
        f"  seen       {_wrapped(violation.actual)}\n"
        f"  on         {visible(header.description or header.target)}, profile {header.profile}, "
        f"{_clock(header.clock, header.warp)}\n\n"
        "step  when          who     what\n" + "\n".join(_steps(program, attempt, violation)) + "\n\n"
        f"names of this run\n{names}\n"
        "every frame: number, protocol time, connection\n" + frames
    )


def _legend(names: dict[str, str]) -> Iterable[tuple[str, str]]:
    return sorted(names.items(), key=lambda pair: (pair[1], pair[0]))


def _clock(kind: str, warp: float) -> str:
    return {"virtual": "virtual time", "warped": f"time x{warp:g}"}.get(kind, "real time")


def _steps(program: Sequence[AnyStep], attempt: Attempt, violation: Violation) -> Iterator[str]:
    by_number: dict[int, list[Observation]] = {}
    for seen in attempt.observed:
        by_number.setdefault(seen.number, []).append(seen)
    began = min((seen.invoked for seen in attempt.observed), default=0.0)
    servers = any(getattr(step, "server", 0) for step in program)
    for number, step in enumerate(program):
        seen_here = by_number.get(number, [])
        when = f"{seen_here[0].invoked - began:.3f} s" if seen_here else ""
        who = getattr(step, "conn", "")
        if servers and hasattr(step, "server"):
            who += f"@{step.server}"
        yield f"{number + 1:>4}  {when:>12}  {who:<6}  {visible(step_words(step))}"
        for seen in seen_here:
            if (said := _outcome(seen)) is not None:
                yield f"{'':>26}-> {said}"
        if number == violation.number:
            yield f"{'':>26}** this decides"


def _outcome(seen: Observation) -> str | None:
    match seen.outcome:
        case Answered(command=command):
            return visible(_answer(command))
        case Ended():
            return "the target closes the connection"
        case Garbled(problem=problem):
            return f"bytes that are no command: {visible(problem)}"
        case Unanswered(surely=surely):
            return "no answer, and something later was answered" if surely else "no answer"
        case Heard(requests=requests):
            heard = (f"{request_name(one.command.code)} at NameServer {one.which + 1}" for one in requests)
            return ", ".join(heard) or "nothing was heard"
        case Copied(is_connected=False):
            return "the slave does not come"
        case Copied():
            copied = f"the log of the master ends at {seen.outcome.end}, that of the slave is to at "
            return f"{copied}{seen.outcome.carried}; it reports {seen.outcome.reported}"
        case TakenOver(offsets=None):
            return "the master does not say the offsets of its groups"
        case TakenOver(is_asked=False):
            return "the slave does not ask for the offsets of its master"
        case TakenOver():
            return "the slave gets the offsets and the groups of its master"
        case None:
            return None if not isinstance(seen.step, Request) else "(no answer is due)"


def _answer(command: Command) -> str:
    body = command.body.decode("utf-8", "backslashreplace")
    shown = f" {body[:_BODY]}{' …' if len(body) > _BODY else ''}" if body else ""
    return f"{describe(command)}{shown}"


def _wrapped(text: str) -> str:
    return visible(text).replace("\\n", " ")
