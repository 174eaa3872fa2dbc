"""All request codes and what a Broker does with each, rendered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from harness.catalogue import Catalogue, Message, Statement
from harness.catalogue.codes import RequestCodes
from harness.catalogue.mentioned import named_requests
from harness.report.docs_markup import page, profiles_text
from harness.report.md import anchor, code, plain

_OF_SERVERS = ("ns.", "bk.")
_SHOWN = 2
MISSING = "Apache's Broker answers it; the catalogue has no request of it yet."


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
        shown = code(name) if message is None else f"[{code(name)}]({link(message)})"
        does, since, ids = codes.why(number) or MISSING, "", ""
        if message is not None and message.role == "nameserver":
            does = "Does not serve it: NameServers do."
        elif message is not None:
            does = _does(message)
            since, ids = profiles_text(message.profiles, lines), _statements(message, catalogue)
        rows.append([str(number), shown, plain(does), since, ids])
    return page("codes", pages=pages, rows=rows, release=codes.release)


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


def setting(key: str, catalogue: Catalogue) -> str:
    """The first statements about Brokers that name a key of their settings, and how many more do."""
    naming = [
        one
        for one in catalogue.statements
        if one.id.startswith("bk.")
        and re.search(rf"\b{key}\b", f"{one.text} {one.stimulus} {one.observable}")
    ]
    links = _links(naming[:_SHOWN])
    more = len(naming) - _SHOWN
    return f"{links} and {more} more" if more > 0 else links


def _does(message: Message) -> str:
    if message.sent:
        return "sends it"
    return "serves it" if not message.codes or 0 in message.codes else "refuses it, without the service"


def _statements(message: Message, catalogue: Catalogue) -> str:
    """The statement that an ordinary request of it proves, and how many others name it."""
    named = {
        one.id
        for one in catalogue.statements
        if one.id.startswith("bk.") and message.code in named_requests(one, "broker")
    }
    others = len(named - {message.owner})
    owner = None if message.owner is None else catalogue.statement(message.owner)
    if owner is None:
        return str(others or "")
    shown = f"[{code(owner.id)}]({owner.chapter}.md#{anchor(owner.id)})"
    return f"{shown} and {others} more" if others else shown
