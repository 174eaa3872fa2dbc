"""The differences between release lines, rendered for those who go from one line to the next.

Pure, as `harness.report.docs` is, whose pages it adds to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from harness.catalogue import CLASSES, Catalogue, Message, Messages, Statement
from harness.catalogue.replaced import successors
from harness.report.docs_markup import page
from harness.report.md import code, plain

_NOTICED = "noticed"
"""The tag of statements that operators and clients notice when a cluster goes to the line that has them."""
_Part = tuple[str, str, Sequence[str]]
"""What it is, what it means, and the profiles that have it; no profiles are all."""


@dataclass
class _Chapter:
    """What changes in a chapter: what takes the place of what, what is new, what is gone."""

    changed: list[tuple[list[Statement], Statement]] = field(default_factory=list)
    new: list[Statement] = field(default_factory=list)
    gone: list[Statement] = field(default_factory=list)


@dataclass(frozen=True)
class _Step:
    """From a release line to the next."""

    older: str
    newer: str
    parts: dict[str, list[tuple[str, str, str]]]
    """By kind: "new" or "gone", what it is, what it means."""
    chapters: dict[str, _Chapter]
    noticed: list[tuple[str, Statement]]
    """What operators and clients notice: "new" or "gone", and the statement; what most need comes first."""


def differences_page(
    messages: Messages,
    catalogue: Catalogue,
    pages: Mapping[str, tuple[str, str]],
    message_link: Callable[[Message], str],
    body_link: Callable[[str], str],
) -> str:
    """The page, with a part for each pair of neighbouring release lines."""
    kinds: dict[str, list[_Part]] = {
        "Messages of NameServers": list(_requests(messages.of("nameserver"), message_link)),
        "Messages of Brokers": list(_requests(messages.of("broker"), message_link)),
        "Fields of messages": list(_fields(messages, message_link)),
        "Bodies": list(_bodies(messages, body_link)),
        "Response codes": [
            (f"{code(one.name)} ({one.number})", one.text, one.profiles) for one in messages.responses.codes
        ],
        "Times and settings": list(_settings(messages)),
    }
    return page(
        "differences",
        pages=pages,
        classes=CLASSES,
        steps=[
            _Step(
                older.name,
                newer.name,
                {
                    kind: found
                    for kind, parts in kinds.items()
                    if (found := list(_changes(parts, older.name, newer.name)))
                },
                _chapters(catalogue.statements, older.name, newer.name),
                _noticed(catalogue.tagged(_NOTICED), older.name, newer.name),
            )
            for older, newer in pairwise(catalogue.profiles)
        ],
    )


def _changes(parts: Sequence[_Part], older: str, newer: str) -> Iterator[tuple[str, str, str]]:
    for what, text, profiles in parts:
        had, has = (not profiles or line in profiles for line in (older, newer))
        if had != has:
            yield "new" if has else "gone", what, plain(text)


def _requests(messages: Sequence[Message], link: Callable[[Message], str]) -> Iterator[_Part]:
    for one in messages:
        yield link(one), one.text.split(". ")[0].rstrip(".") + ".", one.profiles


def _fields(messages: Messages, link: Callable[[Message], str]) -> Iterator[_Part]:
    for message in messages.messages:
        for where, members in (("", message.request), ("the answer to ", message.response)):
            for one in members:
                if not message.profiles:
                    yield f"{code(one.name)} of {where}{link(message)}", one.text, one.profiles


def _bodies(messages: Messages, link: Callable[[str], str]) -> Iterator[_Part]:
    for body in messages.bodies:
        yield link(body.name), body.text, body.profiles
        for one in body.members:
            if not body.profiles:
                yield f"{code(one.name)} of {link(body.name)}", one.text, one.profiles


def _settings(messages: Messages) -> Iterator[_Part]:
    for one in messages.times:
        yield f"{one.name}: {one.value}", one.text, one.profiles
    for key in messages.settings.keys:
        yield code(key.name), key.text, key.profiles
    for key in messages.settings.brokers:
        yield f"{code(key.name)} of Brokers", key.text, key.profiles


def _noticed(tagged: Sequence[Statement], older: str, newer: str) -> list[tuple[str, Statement]]:
    changes = [
        ("new" if newer in one.profiles else "gone", one)
        for one in tagged
        if (older in one.profiles) != (newer in one.profiles)
    ]
    return sorted(changes, key=lambda change: list(CLASSES).index(change[1].class_))


def _chapters(statements: Sequence[Statement], older: str, newer: str) -> dict[str, _Chapter]:
    followed = successors(statements)
    by_id = {one.id: one for one in statements}
    chapters: dict[str, _Chapter] = {}
    for one in statements:
        had, has = older in one.profiles, newer in one.profiles
        if had == has:
            continue
        chapter = chapters.setdefault(one.chapter, _Chapter())
        if has and one.replaces:
            chapter.changed.append(([by_id[name] for name in one.replaces], one))
        elif has:
            chapter.new.append(one)
        elif one.id not in followed:
            chapter.gone.append(one)
    return {name: one for name, one in chapters.items() if one.changed or one.new or one.gone}
