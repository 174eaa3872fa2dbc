"""A case for the ext fields of each request, and one for the members of its body: every form of each is
answered as `specs/fields/` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from harness.catalogue import Message, Role, messages
from harness.catalogue.body_forms import BODY
from harness.catalogue.field_forms import OTHER_LETTERS, Form
from harness.catalogue.fields import field_table
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.case import case
from harness.conformance.expect import Reply
from harness.session import BrokerSession, NameServerSession, Session
from harness.wire import RequestCode

Judging = Callable[..., Any]
Made = Mapping[str, Judging]
_BLANKS = "blank-fields-are-refused"
_LETTERS = "names-of-fields-are-read-in-any-case"
_TWICE = "members-given-twice-are-refused"
_STORES_ODD_NAMES = (
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
)
"""A group with a blank name is stored, and other cases rely on there being none."""


class Proven(msgspec.Struct, frozen=True):
    """The statements that cases prove."""

    statement: str
    later: str
    """About requests that the oldest line does not have."""
    newest: str = ""
    """About requests that only the newest line has."""
    earlier: str = ""
    """About requests that only the oldest line has."""


def field_cases(role: Role, module: str, *, fields: Proven, members: Proven) -> Made:
    """The cases of a role, by the names of their functions: for the ext fields of each request, and for the
    members of its body.
    """
    found = {}
    for message in messages().of(role):
        asked = field_table(role).requests.get(message.code)
        if asked is None or _code(asked.ordinary) is None:
            continue
        name, shown = message.name.lower(), f"{message.code} {message.name}"
        if message.request:
            function = _case(message, OrdinaryRequest.forms_of_fields)
            _call(function, f"test_{name}", module, f"Unusual ext fields in {shown}.")
            found[function.__name__] = _declared(
                function, message, fields, _killed(message), _lines_of_fields(message)
            )
        if any(field.startswith(f"{BODY}.") for field in asked.fields):
            function = _case(message, OrdinaryRequest.forms_of_members)
            _call(function, f"test_body_of_{name}", module, f"Unusual members in the body of {shown}.")
            found[function.__name__] = _declared(function, message, members, _TWICE, message.profiles)
    return found


def _call(function: Judging, name: str, module: str, text: str) -> None:
    """Gives a function the name by which it is declared and collected."""
    function.__name__, function.__module__, function.__doc__ = name, module, text


def _declared(
    function: Judging, message: Message, proven: Proven, kills: str, lines: tuple[str, ...]
) -> Judging:
    """`lines`: where there is something to ask; empty for all."""
    like, _ = owner_of(message)
    statement = proven.statement
    if lines:
        oldest, *_, newest = field_table(message.role).recorded
        only_newest = proven.newest if lines[0] == newest else proven.later
        statement = proven.earlier if oldest in lines else only_newest
    declare = case(
        statement,
        kills=[kills],
        clock=like.clock,
        ends_leases=like.ends_leases,
        own_server=like.own_server or bool(like.setup) or message.code in _STORES_ODD_NAMES,
        setup=dict(like.setup),
        builds_on=message.owner or "",
    )
    return declare(function)


def _lines_of_fields(message: Message) -> tuple[str, ...]:
    """The lines in which a request has ext fields; empty for all."""
    if any(not field.profiles for field in message.request):
        return message.profiles
    return tuple(dict.fromkeys(line for field in message.request for line in field.profiles))


def _case(message: Message, forms: Callable[[OrdinaryRequest], Iterator[Form]]) -> Judging:
    def of_nameserver(ns: NameServerSession) -> None:
        _judge(ns, message, forms)

    def of_broker(bk: BrokerSession) -> None:
        _judge(bk, message, forms)

    return of_broker if message.role == "broker" else of_nameserver


def _judge(session: Session, message: Message, forms: Callable[[OrdinaryRequest], Iterator[Form]]) -> None:
    table, line, code = field_table(message.role), session.profile.name, message.code
    request = OrdinaryRequest(session, message)
    for form in forms(request):
        answer = table.answer(code, form.field, form.name, line)
        number = None if answer is None else _code(answer)
        if number is not None and table.is_judged(code, form.field, form.name, line):
            request.in_form(form) >> Reply(number)


def _code(answer: str) -> int | None:
    """The response code that an answer is; None where it is no response, and would have to be waited for."""
    word, _, number = answer.partition(" ")
    return int(number) if word == "code" else None


def _killed(message: Message) -> str:
    """The mutant that the case finds: one of the two answers some form of each request otherwise."""
    table, code = field_table(message.role), message.code
    ordinary = table.requests[code].ordinary
    known = _lines_of_fields(message)
    lines = [line for line in table.recorded if not known or line in known]
    notices_letters = any(
        all(
            table.is_judged(code, field.name, OTHER_LETTERS, line)
            and table.answer(code, field.name, OTHER_LETTERS, line) != ordinary
            for line in lines
        )
        for field in message.request
    )
    return _LETTERS if notices_letters else _BLANKS
