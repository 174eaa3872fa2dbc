"""All request codes and what servers do with each, rendered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from harness.catalogue import ROLES, Catalogue, Message, Role, Statement
from harness.catalogue.codes import RequestCodes
from harness.catalogue.mentioned import named_requests
from harness.report.docs_markup import page, profiles_text
from harness.report.md import anchor, code, plain

_OF_SERVERS = ("ns.", "bk.")
_SHOWN = 2
_PREFIX: Mapping[Role, str] = {"nameserver": "ns.", "broker": "bk."}
_CONTROLLER = "controller"
"""The chapter of what the controller of a NameServer serves, at a port of its own."""
REFUSES, SERVES, LACKS_SERVICE = "refuses it", "serves it", "refuses it, without the service"
KNOWN = (SERVES, LACKS_SERVICE)
"""What `does` says of a code that a server knows."""


def codes_page(
    codes: RequestCodes,
    messages: Sequence[Message],
    catalogue: Catalogue,
    pages: Mapping[str, tuple[str, str]],
    link: Callable[[Message], str],
) -> str:
    """The page of `specs/codes.yaml`. `link` leads to where a request is described."""
    known = {one.code: one for one in messages}
    lines = [profile.name for profile in catalogue.profiles]
    rows = []
    for number, name in sorted(codes.codes.items()):
        message = known.get(number)
        if message is None:
            why = _linked(codes.why(number) or "", catalogue)
            rows.append([str(number), code(name), REFUSES, REFUSES, "", why])
        else:
            shown = f"[{code(name)}]({link(message)})"
            by_role = [does(message, role) for role in ROLES]
            since, ids = profiles_text(message.profiles, lines), _statements(message, catalogue)
            rows.append([str(number), shown, *by_role, since, ids])
    return page("codes", pages=pages, rows=rows, releases=codes.releases)


def _linked(text: str, catalogue: Catalogue) -> str:
    """A text in which ids of statements lead to them."""
    found = {one.id: _links([one]) for one in catalogue.statements}
    return re.sub(r"\b(?:ns|bk)\.[a-z.-]*[a-z]", lambda one: found[one[0]], plain(text))


def _links(statements: Sequence[Statement]) -> str:
    return ", ".join(f"[{one.id}]({one.chapter}.md#{anchor(one.id)})" for one in statements)


def demanding(response: str, catalogue: Catalogue) -> str:
    """The first statements of each kind of server that demand this response, essential ones before others."""
    found = []
    for prefix in _OF_SERVERS:
        naming = [
            one
            for one in catalogue.statements
            if one.id.startswith(prefix) and re.search(rf"\b{response}\b", one.text)
        ]
        essential_first = sorted(naming, key=lambda one: one.class_ != "essential")
        found += essential_first[:_SHOWN]
    return _links(found)


def naming(word: str, prefixes: tuple[str, ...], catalogue: Catalogue) -> str:
    """The first statements that name a key of settings or a request, and how many more do."""
    found = [
        one
        for one in catalogue.statements
        if one.id.startswith(prefixes)
        and re.search(rf"\b{word}\b", f"{one.text} {one.stimulus} {one.observable}")
    ]
    links = _links(found[:_SHOWN])
    more = len(found) - _SHOWN
    return f"{links} and {more} more" if more > 0 else links


def does(message: Message, role: Role) -> str:
    """What a server of a role does with a request, in the release lines that know it."""
    if message.role != role:
        # What a NameServer sends goes to Brokers, and what a Broker sends to clients.
        return SERVES if message.sent and role == "broker" else REFUSES
    if message.sent:
        return "sends it"
    if message.codes and 0 not in message.codes:
        return LACKS_SERVICE
    return "has a controller that serves it" if message.chapter == _CONTROLLER else SERVES


def _statements(message: Message, catalogue: Catalogue) -> str:
    """The statement that an ordinary request of it proves, and how many others name it."""
    owner = None if message.owner is None else catalogue.statement(message.owner)
    if owner is None:
        return naming(message.name, _OF_SERVERS, catalogue)
    named = {
        one.id
        for one in catalogue.statements
        if one.id.startswith(_PREFIX[message.role]) and message.code in named_requests(one, message.role)
    }
    others = len(named - {owner.id})
    shown = f"[{code(owner.id)}]({owner.chapter}.md#{anchor(owner.id)})"
    return f"{shown} and {others} more" if others else shown
