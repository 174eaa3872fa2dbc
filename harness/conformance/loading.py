"""Finds the cases, and everything that keeps them and the catalogue from fitting together.

Rules of this module:

* A case lives in `harness/conformance/test_<chapter>.py`, one about Brokers alone in
  `harness/conformance/broker/`, whose chapters begin with `broker-`; its name is `<chapter>.<function>` with
  dashes.
* `problems` lists all problems at once. Nothing runs while there is one: a catalogue that does not hold
  together would count wrongly.
* The names of mutants are given by the caller: this room must not know the reference.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from harness.catalogue import Catalogue, CatalogueError, Level, Role, Statement, coverage, nearest
from harness.conformance.case import Case, case_of

if TYPE_CHECKING:
    from harness.session import Session

FIRST = ("sanity", "broker-sanity")  # chapters that decide whether anything can be measured
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

    def statements(self, catalogue: Catalogue, profile: str) -> tuple[Statement, ...]:
        """The statements that it proves under the profile; empty where the case does not apply."""
        found = (catalogue.statement(identifier) for identifier in self.case.statements)
        return tuple(one for one in found if one is not None and profile in one.profiles)


def modules() -> list[ModuleType]:
    """The modules that hold cases, imported.

    Raises:
        CatalogueError: from a case that does not stand its own checks.
    """
    import harness.conformance as package
    from harness.conformance import broker

    found: list[ModuleType] = []
    for place in (package, broker):
        names = sorted(
            one.name for one in pkgutil.iter_modules(place.__path__) if one.name.startswith("test_")
        )
        found += [importlib.import_module(f"{place.__name__}.{name}") for name in names]
    return found


def cases(found: Collection[ModuleType] | None = None, *, role: Role | None = None) -> list[LoadedCase]:
    """Every case, or those for servers of the role, by module and in the order of its lines.

    Raises:
        CatalogueError: a test function that is not declared as a case.
    """
    loaded: list[LoadedCase] = []
    for module in modules() if found is None else found:
        chapter = _chapter(module)
        for name, function in vars(module).items():
            declared = case_of(function)
            if declared is not None and role is not None and role not in declared.roles:
                continue
            if declared is not None and getattr(function, "__module__", None) == module.__name__:
                slug = name.removeprefix("test_").replace("_", "-")
                loaded.append(LoadedCase(f"{chapter}.{slug}", chapter, declared, function))
            elif declared is None and name.startswith("test_"):
                raise CatalogueError(
                    f"{module.__name__}.{name}",
                    "a test function that is no case",
                    'write @case("<statement>", kills=["<mutant>"]) above it',
                )
    return loaded


def _chapter(module: ModuleType) -> str:
    place, _, name = module.__name__.rpartition(".")
    slug = name.removeprefix("test_").replace("_", "-")
    return f"broker-{slug}" if place.endswith(".broker") else slug


def problems(
    catalogue: Catalogue, loaded: Collection[LoadedCase], mutants: Collection[str]
) -> list[CatalogueError]:
    """Everything that does not fit: cases without statement or mutant, statements or quirks without case.

    Empty is good.
    """
    return [
        *_quirks_unseen(catalogue, loaded),
        *_unknown_statements(catalogue, loaded),
        *_unknown_mutants(loaded, mutants),
        *_unproven_statements(catalogue, loaded),
    ]


def _unknown_statements(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    known = {statement.id: statement for statement in catalogue.statements}
    for one in loaded:
        for identifier in one.case.statements:
            if identifier not in known:
                yield CatalogueError(
                    one.case.where,
                    f"case {one.case.name} proves {identifier}, which is not in the catalogue",
                    _meant(identifier, known) or "write the statement in specs/statements/",
                )
            elif known[identifier].untestable is not None:
                yield CatalogueError(
                    one.case.where,
                    f"case {one.case.name} proves {identifier}, which says that it is untestable",
                    "drop `untestable` from the statement, or the case",
                )


def _quirks_unseen(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    """Quirks that name a case which is not there, or one that proves nothing of what the quirk breaks."""
    proving = {one.name: one.case.statements for one in loaded}
    for server in catalogue.servers:
        for quirk in server.quirks:
            where = f"specs/targets/{server.name}.yaml {quirk.id}"
            for name in quirk.cases:
                if name not in proving:
                    do = _meant(name, proving) or "name the case that sees it"
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
                    _meant(name, mutants) or "write the mutant in reference_impl/mutants/",
                )


def _unproven_statements(catalogue: Catalogue, loaded: Collection[LoadedCase]) -> Iterator[CatalogueError]:
    """Statements that no case proves, and that do not say why none can."""
    covered = coverage(catalogue.statements, {one.name: one.case.statements for one in loaded})
    for identifier in covered.unproven:
        statement = catalogue.statement(identifier)
        chapter = statement.chapter if statement else "?"
        yield CatalogueError(
            f"specs/statements/{chapter}.yaml {identifier}",
            "no case proves it",
            f"write one in {_module_of(chapter)}, or say `untestable: why`",
        )


def _module_of(chapter: str) -> str:
    place = "broker/" if chapter.startswith("broker-") else ""
    return f"harness/conformance/{place}test_{chapter.removeprefix('broker-').replace('-', '_')}.py"


def _meant(word: str, known: Collection[str]) -> str:
    close = nearest(word, known)
    return f"did you mean {' or '.join(close)}?" if close else ""
