"""A case for each request with ext fields: every form of every field is answered as `specs/fields/` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.catalogue import Message, Role, messages
from harness.catalogue.field_forms import OTHER_LETTERS
from harness.catalogue.fields import field_table
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.case import case
from harness.conformance.expect import Reply
from harness.session import BrokerSession, NameServerSession, Session

Made = Mapping[str, Callable[..., Any]]
_BLANKS = "blank-fields-are-refused"
_LETTERS = "names-of-fields-are-read-in-any-case"


def field_cases(role: Role, module: str, statement: str, later: str) -> Made:
    """The cases of a role, by the names of their functions.

    `later`: the statement about requests that the oldest release line does not have.
    """
    found = {}
    for message in messages().of(role):
        asked = field_table(role).requests.get(message.code)
        if asked is not None and _code(asked.ordinary) is not None:
            function = _case(message)
            function.__name__ = f"test_{message.name.lower()}"
            function.__doc__ = f"Unusual ext fields in {message.code} {message.name}."
            function.__module__ = module
            named = later if message.profiles else statement
            like, _ = owner_of(message)
            declare = case(
                named,
                kills=[_killed(message)],
                clock=like.clock,
                ends_leases=like.ends_leases,
                own_server=like.own_server,
                setup=dict(like.setup),
            )
            found[function.__name__] = declare(function)
    return found


def _case(message: Message) -> Callable[..., None]:
    def of_nameserver(ns: NameServerSession) -> None:
        _judge(ns, message)

    def of_broker(bk: BrokerSession) -> None:
        _judge(bk, message)

    return of_broker if message.role == "broker" else of_nameserver


def _judge(session: Session, message: Message) -> None:
    table, line, code = field_table(message.role), session.profile.name, message.code
    request = OrdinaryRequest(session, message)
    for form in request.forms():
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
    lines = [line for line in table.recorded if not message.profiles or line in message.profiles]
    notices_letters = any(
        all(
            table.is_judged(code, field.name, OTHER_LETTERS, line)
            and table.answer(code, field.name, OTHER_LETTERS, line) != ordinary
            for line in lines
        )
        for field in message.request
    )
    return _LETTERS if notices_letters else _BLANKS
