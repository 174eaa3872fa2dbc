"""Finds the cases, and every contradiction between them and the catalogue.

* The name of a case is `<chapter>.<function>` with dashes; see `harness.conformance.layout` for chapters.
* `problems` lists all problems at once. Nothing runs while there is one: a catalogue that does not hold
  together would count wrongly.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from harness.catalogue import (
    CLASSES,
    ROLES,
    Catalogue,
    CatalogueError,
    CatalogueProblems,
    Class,
    Level,
    Message,
    Role,
    Statement,
    catalogue,
    coverage,
    did_you_mean,
    messages,
)
from harness.conformance.case import Case, case_of
from harness.conformance.layout import FOLDERS, file_of, key_of_node, place_of, slug
from harness.targets.builtin.target import mutant_names

if TYPE_CHECKING:
    from harness.session import Session

FIRST = ("sanity", "broker-sanity")  # chapters that decide whether anything can be measured
LATE = ("connection", "framing", "json", "errors", "security")  # chapters about faulty and hostile peers
LAST = ("endurance", "broker-endurance")  # chapters that show that the target lived through it all
_RANK = {"MUST": 0, "SHOULD": 1, "MAY": 2}


@dataclass(frozen=True, slots=True)
class LoadedCase:
    """A case and where it comes from."""

    name: str
    chapter: str
    case: Case
    function: Callable[[Session], object]

    def level(self, catalogue: Catalogue, profile: str) -> Level:
        """The strictest level of the statements that it proves under the profile."""
        levels: list[Level] = [one.level for one in self.statements(catalogue, profile)]
        return min(levels, key=_RANK.__getitem__)

    def class_(self, catalogue: Catalogue, profile: str) -> Class:
        """The most needed class of the statements that decide its level."""
        level = self.level(catalogue, profile)
        classes = {one.class_ for one in self.statements(catalogue, profile) if one.level == level}
        return next(one for one in CLASSES if one in classes)

    @property
    def key(self) -> str:
        """Its file and function, as `key_of_node` has them."""
        return key_of_node(f"{self.function.__module__.replace('.', '/')}.py::{self.case.name}")

    def title(self, catalogue: Catalogue) -> str:
        """What holds, in a sentence: its own title, or the text of its statement."""
        statement = catalogue.statement(self.case.statements[0])
        return self.case.title or (statement.text if statement else "")

    def statements(self, catalogue: Catalogue, profile: str) -> tuple[Statement, ...]:
        """The statements that it proves under the profile; empty where the case does not apply."""
        return self._under(profile, catalogue, self.case.statements)

    def needed(self, catalogue: Catalogue, profile: str) -> tuple[Statement, ...]:
        """Those, and the one that it builds on."""
        return self._under(profile, catalogue, (*self.case.statements, self.case.builds_on))

    def _under(self, profile: str, catalogue: Catalogue, ids: Iterable[str]) -> tuple[Statement, ...]:
        found = (catalogue.statement(identifier) for identifier in ids)
        return tuple(one for one in found if one is not None and profile in one.profiles)


def modules(role: Role | None = None) -> list[ModuleType]:
    """The modules that hold cases, or those that may hold cases for servers of the role, imported.

    Raises:
        CatalogueError: from a case that does not stand its own checks.
    """
    import harness.conformance as package

    names = (one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    others = tuple(f"{package.__name__}.{one}." for one in ROLES if role not in (None, one))
    return [
        importlib.import_module(name)
        for name in sorted(names)
        if ".test_" in name and not name.startswith(others)
    ]


def cases(found: Collection[ModuleType] | None = None, *, role: Role | None = None) -> list[LoadedCase]:
    """Every case, or those for servers of the role, by module and in the order of its lines. Without `found`:
    those of this installation, which are looked for once.

    Raises:
        CatalogueError: a test function that is not declared as a case.
    """
    return list(_installed(role) if found is None else _in(found, role))


@functools.cache
def _installed(role: Role | None) -> tuple[LoadedCase, ...]:
    return tuple(_in(modules(role), role))


def _in(found: Collection[ModuleType], role: Role | None) -> list[LoadedCase]:
    loaded: list[LoadedCase] = []
    for module in found:
        place = place_of(module.__name__)
        if place is None:
            raise CatalogueError(
                module.__name__,
                "a module of cases in no place for cases",
                f"move it to harness/conformance/{{{','.join(FOLDERS)}}}/[<chapter>/]test_….py",
            )
        for name, function in vars(module).items():
            declared = case_of(function)
            if declared is not None and role is not None and role not in declared.roles:
                continue
            if declared is not None and getattr(function, "__module__", None) == module.__name__:
                loaded.append(LoadedCase(f"{place.chapter}.{slug(name)}", place.chapter, declared, function))
            elif declared is None and name.startswith("test_"):
                raise CatalogueError(
                    f"{module.__name__}.{name}",
                    "a test function that is no case",
                    'write @case(kills=["<mutant>"]) above it',
                )
    return loaded


def checked_cases(role: Role, *, unfinished: bool) -> list[LoadedCase]:
    """Every case of this installation for servers of the role. They must fit catalogue and mutants, unless
    they may be `unfinished`.

    Raises:
        CatalogueProblems: with everything that does not fit.
    """
    try:
        loaded = cases(role=role)
    except CatalogueError as error:
        raise CatalogueProblems([error]) from None
    known = catalogue().of(role)
    wrong = [] if unfinished else problems(known, loaded, mutant_names(role))
    wrong += [] if unfinished else owner_problems(known, loaded, messages().of(role))
    if wrong:
        raise CatalogueProblems(wrong)
    return loaded


def problems(
    catalogue: Catalogue, loaded: Collection[LoadedCase], mutants: Collection[str]
) -> list[CatalogueError]:
    """Every contradiction: cases without statement or mutant, statements or quirks without case.

    Empty is good.
    """
    return [
        *_quirks_unseen(catalogue, loaded),
        *_unknown_statements(catalogue, loaded),
        *_unknown_mutants(loaded, mutants),
        *_unproven_statements(catalogue, loaded),
    ]


def owner_problems(
    catalogue: Catalogue, loaded: Collection[LoadedCase], messages: Iterable[Message]
) -> list[CatalogueError]:
    """Messages whose owner is no MUST that one case proves wherever the message exists. Empty is good."""
    found: list[CatalogueError] = []
    for message in messages:
        if message.owner is None:
            continue
        where = f"specs/messages/{message.role}/ {message.code} {message.name}"
        statement = catalogue.statement(message.owner)
        proving = [one.name for one in loaded if message.owner in one.case.statements]
        existing = set(message.profiles or [one.name for one in catalogue.profiles])
        if statement is None:
            hint = did_you_mean(message.owner, [one.id for one in catalogue.statements], "write it")
            found.append(CatalogueError(where, f"its owner {message.owner} is no statement", hint))
        elif statement.level != "MUST" or existing - set(statement.profiles) or len(proving) != 1:
            is_now = f"a {statement.level} under {', '.join(statement.profiles)} with {len(proving)} cases"
            do = "name a MUST that one case proves under every profile of the message"
            found.append(CatalogueError(where, f"its owner {message.owner} is {is_now}", do))
    return found


def _unknown_statements(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    known = {statement.id: statement for statement in catalogue.statements}
    for one in loaded:
        for identifier in one.case.statements:
            if identifier not in known:
                yield CatalogueError(
                    one.case.where,
                    f"case {one.case.name} proves {identifier}, which is not in the catalogue",
                    did_you_mean(identifier, known, "write the statement in specs/statements/"),
                )
            elif known[identifier].untestable is not None:
                yield CatalogueError(
                    one.case.where,
                    f"case {one.case.name} proves {identifier}, which says that it is untestable",
                    "drop `untestable` from the statement, or the case",
                )


def _quirks_unseen(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    """Quirks that name an unknown case, or one that proves none of the statements that the quirk breaks."""
    proving = {one.name: one.case.statements for one in loaded}
    for server in catalogue.servers:
        for quirk in server.quirks:
            where = f"specs/targets/{server.name}/ {quirk.id}"
            for name in quirk.cases:
                if name not in proving:
                    do = did_you_mean(name, proving, "name the case that sees it")
                    yield CatalogueError(where, f"there is no case {name}", do)
                elif not set(proving[name]) & set(quirk.statements):
                    do = "name the statement that the case proves, or another case"
                    yield CatalogueError(where, f"case {name} proves none of its statements", do)


def _unknown_mutants(loaded: Collection[LoadedCase], mutants: Collection[str]) -> Iterator[CatalogueError]:
    for one in loaded:
        for name in one.case.kills:
            if name not in mutants:
                yield CatalogueError(
                    one.case.where,
                    f"case {one.case.name} kills {name!r}, which is no mutant",
                    did_you_mean(name, mutants, "write the mutant in reference_impl/mutants/"),
                )


def _unproven_statements(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    """Statements that no case proves, and that do not say why none can."""
    covered = coverage(catalogue.statements, {one.name: one.case.statements for one in loaded})
    for identifier in covered.unproven:
        statement = catalogue.statement(identifier)
        chapter = statement.chapter if statement else "?"
        yield CatalogueError(
            f"{statement.file if statement else chapter} {identifier}",
            "no case proves it",
            f"write one in {file_of(chapter, identifier)}, or say `untestable: why`",
        )
