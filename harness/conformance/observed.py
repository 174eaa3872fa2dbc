"""What a case asked and what came of it, as the record keeps it for causes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from harness.catalogue import Profile
from harness.conformance.wrong import answer_words
from harness.report.results import BodyForm, Held, Sent
from harness.report.traits import traits_of, traits_of_bytes
from harness.session import Session
from harness.session.errors import Unmet
from harness.session.exchange import Exchange, Request
from harness.trace import Closed, Event, Note, Received
from harness.trace import Sent as SentBytes
from harness.wire import Command, dissect
from harness.wire.code_names import request_words
from harness.wire.requests import REQUESTS

LONGEST = 2000  # characters of a header or body in the record
_MOST = 400  # requests of one case that are looked at
_BEGUN = {"preamble": "behind other bytes", "under TLS": "under TLS"}
_PASSING = ("advance", "restart", "killed and started again")


def held_of(session: Session, failing: Request | None = None) -> tuple[Held, ...]:
    """The requests whose outcome was as expected, each kind once. ``failing`` is the one whose was not."""
    found: dict[Held, None] = {}
    begun = _beginnings(session)
    for request in session.requests[:_MOST]:
        outcome, link = request.decided, request.asked.link
        if outcome is None or not request.judged or request is failing or link is None:
            continue
        data = request.asked.sent or _written(session.trace.events, link.number, answered=False)
        words, traits = _kind(request.asked.request, data, session.profile)
        traits = (*traits, *begun.get(link.number, ()))
        found.setdefault(Held(request=words, traits=traits, answer=answer_words(outcome)))
    return tuple(found)


def sent_of(exchange: Exchange) -> Sent | None:
    """What was sent before the answer that was judged; None where the target was to speak first."""
    events = exchange.session.trace.events
    data = exchange.sent or _written(events, exchange.connection, answered=exchange.awaits_answer)
    link = exchange.origin.asked.link
    begun = _beginnings(exchange.session).get(exchange.connection, ())
    if not data and link is not None:
        data, begun = link.preamble, ()
    if not data:
        return None
    request, traits = _kind(exchange.request, data, exchange.session.profile)
    return _sent(request, (*traits, *begun), exchange.request, data)


def sent_frame(frame: bytes, profile: Profile) -> Sent:
    """A request that was sent, from its bytes."""
    command = dissect(frame).command
    return _sent(*_kind(command, frame, profile), command, frame)


def _sent(request: str, traits: tuple[str, ...], command: Command | None, data: bytes) -> Sent:
    header, body = _texts(command, data)
    text, form = _readable(body)
    return Sent(
        request=request,
        traits=traits,
        header=_cut(header),
        body=_cut(text),
        body_form=form,
        size=len(data),
    )


Acts: TypeAlias = Sequence[tuple[Event, str]]
"""What a case did, in order, each with the words for a change; empty for a plain question."""


def changed_before(unmet: Unmet, acts: Acts) -> tuple[str, ...]:
    """What had changed something before, each once, by when it came last."""
    found: dict[str, None] = {}
    request = unmet.exchange.request
    for _, words in acts:
        if words:
            found.pop(words, None)
            found[words] = None
    if request is not None:
        found.pop(request_words(request.code), None)
    return tuple(found)


def deed_of(unmet: Unmet, acts: Acts, sent: Sent | None) -> tuple[Sent | None, tuple[str, ...]]:
    """What was done before something was asked, or without anything that was asked; ``sent`` is the latter.

    Nothing where what was asked is a change itself.
    """
    exchange = unmet.exchange
    if exchange.code is not None and _changes(exchange.code):
        return None, ()
    link = exchange.connection if exchange.request is None and not exchange.awaits_answer else 0
    data, then = b"", list[str]()
    for event, words in acts:
        if isinstance(event, SentBytes):
            if words or event.connection == link:
                data, then = event.data, []
        elif words not in then:
            then.append(words)
    deed = None
    if data:
        deed = _sent(*_kind(dissect(data).command, data, exchange.session.profile), None, data)
    return (None, ()) if deed is not None and deed == sent else (deed, tuple(then))


def acts_before(unmet: Unmet) -> Acts:
    """What the case did before. Connections that are the harness's own are left out."""
    return tuple(_acts(unmet))


def _acts(unmet: Unmet) -> Iterator[tuple[Event, str]]:
    asked_at, used = unmet.exchange.sent_event, set[int]()
    events = unmet.exchange.session.trace.events
    for event in events[: unmet.until if asked_at is None else asked_at]:
        if isinstance(event, SentBytes) and event.purpose == "case":
            used.add(event.connection)
            command = dissect(event.data).command
            is_change = command is not None and not command.is_response and _changes(command.code)
            yield event, request_words(command.code) if command is not None and is_change else ""
        elif isinstance(event, Closed) and event.by == "us" and event.connection in used:
            yield event, "closed connection"
        elif isinstance(event, Note) and event.text.startswith(_PASSING):
            yield event, "time" if event.text.startswith("advance") else "restart"


def _changes(code: int) -> bool:
    form = REQUESTS.get(code)
    return form is not None and not form.read_only


def _kind(command: Command | None, data: bytes, profile: Profile) -> tuple[str, tuple[str, ...]]:
    if command is not None:
        return request_words(command.code), traits_of(command, profile.name, profile.announces)
    return traits_of_bytes(data, profile.name, profile.announces)


def _beginnings(session: Session) -> dict[int, tuple[str, ...]]:
    """What is special in connections, by their number: TLS, bytes before the first frame."""
    found: dict[int, tuple[str, ...]] = {}
    for event in session.trace.events:
        if isinstance(event, Note) and event.connection is not None:
            for beginning, trait in _BEGUN.items():
                if event.text.startswith(beginning):
                    found[event.connection] = (*found.get(event.connection, ()), trait)
    return found


def _written(events: Iterable[Event], connection: int, *, answered: bool) -> bytes:
    """What the case has written on the connection since something came on it. `answered`: some of it may have
    been answered, so that it counts until more is written.
    """
    data, is_over = b"", False
    for event in events:
        if isinstance(event, Received) and event.connection == connection:
            is_over = True
        elif isinstance(event, SentBytes) and event.connection == connection and event.purpose == "case":
            data = event.data if is_over else data + event.data
            is_over = False
    return b"" if is_over and not answered else data


def _texts(command: Command | None, data: bytes) -> tuple[str, bytes]:
    """The header as text and the body; bytes that are no frame are all body."""
    if command is None:
        command = dissect(data).command
        if command is None:
            return "", data
        length = int.from_bytes(data[5:8], "big")
        if data[4] == 0:
            return data[8 : 8 + length].decode("utf-8", "backslashreplace"), command.body
    header = {
        "code": command.code,
        "extFields": command.ext,
        "flag": command.flag,
        "language": command.language,
        "opaque": command.opaque,
        "remark": command.remark,
        "serializeTypeCurrentRPC": command.serialization.name,
        "version": command.version,
    }
    present = {name: value for name, value in header.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")), command.body


def _readable(body: bytes) -> tuple[str, BodyForm]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body[:LONGEST].hex(), "hex"
    return text, "text"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"
