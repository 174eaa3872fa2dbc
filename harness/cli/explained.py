"""What `explain` says of each kind of thing: an object whose first member says what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from harness.catalogue import (
    CLASSES,
    Message,
    Quirk,
    Report,
    Server,
    Statement,
    catalogue,
    messages,
    named_requests,
    requests_of,
    responses_of,
    usage,
)
from harness.catalogue.messages import Member, Numbered
from harness.conformance.loading import LoadedCase
from harness.report.docs_messages import body_page, page_of
from harness.report.results import ROLE_NAMES
from harness.spec.quirks import step_titles
from reference_impl.mutants import MUTANTS, Mutant

Answer = dict[str, Any]
UNUSED = "none of the peers whose traffic was recorded"


def of_statement(statement: Statement, proving: list[LoadedCase]) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "statement": statement.id,
        "level": statement.level,
        "class": f"{statement.class_}: {CLASSES[statement.class_]}",
        "roles": list(statement.roles) or ["client"],
        "profiles": list(statement.profiles),
        "came with": [f"Apache {release}" for release in statement.came],
        "used by": _users(statement),
        "text": statement.text,
        "stimulus": statement.stimulus,
        "observable": statement.observable,
        "source": [f"{source}: {source.path}" for source in statement.source],
        "observed": [f"Apache {version}" for version in statement.observed],
        "issues": list(statement.issues),
        "tags": list(statement.tags),
        "notes": statement.notes,
        "untestable": statement.untestable,
        "judged by": "" if statement.roles else "rmq-harness remarks FILE, RocketMQ.client_remarks()",
        "cases": [_titled(one) for one in proving],
        "mutants": sorted({name for one in proving for name in one.case.kills}),
        "quirks": [
            f"{quirk.id}: {_releases(server, quirk)}"
            for server in catalogue().servers
            for quirk in server.quirks
            if statement.id in quirk.statements
        ],
    }
    return _without_empty(answer)


def _users(statement: Statement) -> list[str]:
    """Who sends the requests that the statement names, in ordinary work."""
    return [
        f"{message.code} {message.name}: {usage().words(role, message.code) or UNUSED}"
        for role in statement.servers
        for message in messages().of(role)
        if message.code in named_requests(statement, role) and not message.sent
    ]


def of_tag(tag: str, report: Report | None, loaded: list[LoadedCase]) -> dict[str, Any]:
    """A bug report, or a tag that is none, with the statements that speak of it."""
    speaking = catalogue().tagged(*(report.tags if report is not None else (tag,)))
    known = {statement.id for statement in speaking}
    proving = [one for one in loaded if known.intersection(one.case.statements)]
    answer: dict[str, Any] = {
        "tag": tag,
        "text": report and report.title,
        "issues": list(report.issues) if report else [],
        "fixed": report and report.fixed,
        "untestable": report and report.untestable,
        "statements": [f"{statement.id}: {statement.text}" for statement in speaking],
        "cases": [_titled(one) for one in proving],
        "history": [
            f"{found.name}: {found.history}"
            for found in MUTANTS.values()
            if found.history and any(found.name in one.case.kills for one in proving)
        ],
    }
    return {key: value for key, value in answer.items() if value not in (None, [])}


def _titled(one: LoadedCase) -> str:
    """A case under its statement: its name, and its title if that says something else."""
    return f"{one.name}: {one.case.title}" if one.case.title else one.name


def of_quirk(server: Server, quirk: Quirk) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "quirk": quirk.id,
        "of": _releases(server, quirk),
        "instead": quirk.instead,
        "breaks": list(quirk.statements),
        "seen in": list(quirk.cases),
        "in programs": list(step_titles(quirk)),
        "source": [f"{source}: {source.path}" for source in quirk.source],
        "observed": list(quirk.observed),
        "issues": list(quirk.issues),
        "intermittent": quirk.intermittent,
        "notes": quirk.notes,
    }
    return {key: value for key, value in answer.items() if value not in (None, [])}


def _releases(server: Server, quirk: Quirk) -> str:
    return f"{server.title}, {', '.join(map(str, quirk.versions))}"


def of_case(one: LoadedCase) -> dict[str, Any]:
    return {
        "case": one.name,
        "text": one.title(catalogue()),
        "proves": list(one.case.statements),
        "kills": list(one.case.kills),
        "advances time": one.case.clock,
        "own server": one.case.own_server or bool(one.case.setup),
        "function": one.case.where,
    }


def of_mutant(found: Mutant, loaded: Iterable[LoadedCase]) -> Answer:
    """A deliberate fault, what kills it, and which statements that proves."""
    killing = [one for one in loaded if found.name in one.case.kills]
    target = f"'builtin:{found.profiles[-1]}?mutant={found.name}'"
    answer = {
        "mutant": found.name,
        "text": found.description,
        "roles": list(found.roles),
        "profiles": list(found.profiles),
        "history": found.history,
        "breaks": list(dict.fromkeys(name for one in killing for name in one.case.statements)),
        "killed by": [one.name for one in killing],
        "try it": f"rmq-harness check {target} --role {found.roles[0]}",
    }
    return _without_empty(answer)


def of_request(message: Message, loaded: Iterable[LoadedCase]) -> Answer:
    """A request: what it carries, and what the catalogue says of it."""
    role = message.role
    about = [one for one in catalogue().of(role).statements if message.code in requests_of(one, role)]
    about.sort(key=lambda one: (one.chapter != message.chapter, list(CLASSES).index(one.class_)))
    answer = {
        "request": f"{message.code} {message.name}",
        "text": message.text,
        "served by": _served_by(message),
        "used by": "" if message.sent else usage().words(role, message.code) or UNUSED,
        "profiles": list(message.profiles),
        "fields": [_member(one) for one in message.request],
        "body": _body(message.request_body, message.request_body_text),
        "answer": [_member(one) for one in message.response],
        "answer body": _body(message.response_body, message.response_body_text),
        "answered with": [
            _said(f"{code} {_response_name(code)}", text) for code, text in message.codes.items()
        ],
        "source": message.source,
        "page": page_of(message),
        "chapter": message.chapter,
        **_proved(about, loaded),
    }
    return _without_empty(answer)


def _served_by(message: Message) -> str:
    server = ROLE_NAMES[message.role]
    if not message.sent:
        return server
    return f"what a {server} sends{', one-way' if message.one_way else ''}"


def of_response(code: Numbered, loaded: Iterable[LoadedCase]) -> Answer:
    """A response code: when it is answered, and which statements say so."""
    about = [one for one in catalogue().statements if code.name in responses_of(one)]
    answer = {
        "response": f"{code.number} {code.name}",
        "text": code.text,
        "profiles": list(code.profiles),
        "answers": [
            _said(f"{one.code} {one.name}", one.codes[code.number])
            for one in messages().messages
            if code.number in one.codes
        ],
        "page": "specs/rendered/frame.md#response-codes",
        **_proved(about, loaded),
    }
    return _without_empty(answer)


_PROPERTY = "from the start, as a Java system property; the file of {config} has it too"


def of_setting(key: Member, loaded: Iterable[LoadedCase], *, at_start: bool = False) -> Answer:
    """A setting of a NameServer, and which statements speak of it.

    ``at_start``: it is a system property, which no request changes.
    """
    about = [
        one
        for one in catalogue().statements
        if re.search(rf"\b{re.escape(key.name)}\b", f"{one.text} {one.stimulus} {one.observable}")
    ]
    answer = {
        "setting": key.name,
        "type": key.type,
        "default": key.default,
        "text": key.text,
        "profiles": list(key.profiles),
        "in force": _PROPERTY if at_start else "at once" if key.online else "after a restart",
        "page": "specs/rendered/settings.md",
        **_proved(about, loaded),
    }
    return _without_empty(answer)


def of_chapter(name: str, loaded: Iterable[LoadedCase]) -> Answer:
    """A chapter, with the requests that are its own."""
    about = [one for one in catalogue().statements if one.chapter == name]
    of_clients = not any(one.roles for one in about)
    answer = {
        "chapter": name,
        "of": sorted({ROLE_NAMES[role] for one in about for role in one.roles}) or ["client"],
        "requests": [f"{one.code} {one.name}" for one in messages().messages if one.chapter == name],
        "page": f"specs/rendered/{name}.md",
        "try it": "rmq-harness remarks FILE" if of_clients else f"rmq-harness check TARGET --select {name}",
        **_proved(about, loaded),
    }
    return _without_empty(answer)


def _proved(about: Sequence[Statement], loaded: Iterable[LoadedCase]) -> Answer:
    """Statements, and the cases that prove them."""
    known = {statement.id for statement in about}
    return {
        "statements": [f"{statement.id}: {statement.text}" for statement in about],
        "cases": [_titled(one) for one in loaded if known.intersection(one.case.statements)],
    }


def _member(member: Member) -> str:
    told = [member.type, *(["required"] if member.required else [])]
    return _said(f"{member.name} ({', '.join(told)})", member.text)


def _body(name: str | None, text: str) -> list[str]:
    """A body: what it is, and its members."""
    if name is None:
        return []
    found = next((one for one in messages().bodies if one.name == name), None)
    if found is None:
        return [_said(name, text)]
    return [_said(f"{name} ({body_page(name)})", text), *map(_member, found.members)]


def _said(name: str, text: str) -> str:
    return f"{name}: {text}" if text else name


def _response_name(number: int) -> str:
    return next((one.name for one in messages().responses.codes if one.number == number), "")


def _without_empty(answer: Answer) -> Answer:
    return {key: value for key, value in answer.items() if value not in (None, "", [])}
