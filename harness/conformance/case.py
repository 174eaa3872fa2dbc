"""`@case`: what makes a pytest function a conformance case, and the checks that each case must pass.

* A case proves the statement that its file and its name say: `test_x_y` of chapter lease proves
  `ns.lease.x-y`. One that proves another statement, or several, names them.
* A case has the title of its statement. One that proves several statements has a docstring, whose first
  paragraph is its title; so has one that shares its statement with other cases.
* A case names at least one mutant that it must find.
* Only what can be known from the function itself is checked here. Whether the statements and mutants exist is
  asked of the catalogue and of the mutant registry by `harness.conformance.loading`, which lists all problems
  at once.
* Every error says file:line, what was expected and what to do.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.catalogue import ROLES, CatalogueError, Role
from harness.conformance.layout import place_of, slug
from harness.session import Setup

Function = TypeVar("Function", bound=Callable[..., Any])

ATTRIBUTE = "__rmq_case__"
_ROLES: dict[str, tuple[Role, ...]] = {"ns": ("nameserver",), "bk": ("broker",), "peer": ROLES}
"""The role of server that each argument name of a case stands for."""
_STATEMENT_ID = re.compile(r"(ns|bk|wire)(\.[a-z0-9]+(-[a-z0-9]+)*){2}")


@dataclass(frozen=True, slots=True)
class Case:
    """What `@case` says about a function."""

    statements: tuple[str, ...]
    kills: tuple[str, ...]
    clock: bool
    ends_leases: bool
    own_server: bool
    apart: bool
    setup: Setup
    builds_on: str
    """A statement without which there is nothing to ask; it may be that of another case. Empty: none."""
    name: str
    title: str
    """The case's own title; empty if it uses that of its statement."""
    where: str  # file:line
    roles: tuple[Role, ...]


def case(
    *statements: str,
    kills: Iterable[str],
    clock: bool = False,
    ends_leases: bool = False,
    own_server: bool = False,
    apart: bool = False,
    setup: Mapping[str, str] | None = None,
    builds_on: str = "",
) -> Callable[[Function], Function]:
    """Declare a case: the statements that it proves and the mutants that it must kill.

    `statements`: by default the one that file and function are named after. `clock`: the case advances
    protocol time; `ends_leases`: so far that a lease runs out. `own_server`: it gets a fresh instance of the
    target for itself (one that it may restart or spoil). `apart`: it changes settings over the wire, so that
    it shares a server with such cases only. `setup`: its server is started with these settings,
    under Apache's names; cases of the same setup share a server, unless they also say `own_server`. All three
    are `unsupported` where the target cannot be started by us, or not with settings. `builds_on`: a statement
    that must have come with the target's release, as those of the case must.

    Raises:
        CatalogueError: no statement, a malformed id, no mutant, a docstring too many or too few, or other
        arguments than `ns`, `bk` or `peer`.
    """
    killed = (kills,) if isinstance(kills, str) else tuple(kills)

    def declare(function: Function) -> Function:
        where = f"{inspect.getsourcefile(function) or '?'}:{function.__code__.co_firstlineno}"
        title = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        name = function.__name__
        parameters = list(inspect.signature(function).parameters)
        proven = statements or _named(function)
        _check(where, name, proven, killed, parameters)
        _check_title(where, name, title, statements)
        settings = tuple(sorted((setup or {}).items()))
        declared = Case(
            statements=proven,
            kills=killed,
            clock=clock or ends_leases,
            ends_leases=ends_leases,
            own_server=own_server,
            apart=apart,
            setup=settings,
            builds_on=builds_on,
            name=name,
            title=title,
            where=where,
            roles=_ROLES[parameters[0]],
        )
        setattr(function, ATTRIBUTE, declared)
        return function

    return declare


def case_of(function: object) -> Case | None:
    """The declaration of a case, or None for any other function."""
    declared = getattr(function, ATTRIBUTE, None)
    return declared if isinstance(declared, Case) else None


def _named(function: Callable[..., Any]) -> tuple[str, ...]:
    """The statement that file and function are named after; empty outside the folders of cases."""
    place = place_of(function.__module__)
    return (f"{place.statements}.{slug(function.__name__)}",) if place else ()


def _check_title(where: str, name: str, title: str, named: tuple[str, ...]) -> None:
    if len(named) > 1 and not title:
        raise CatalogueError(
            where,
            f"case {name} proves several statements and has no docstring",
            "say in one sentence what holds; reports show it as the title",
        )
    if title and not named:
        raise CatalogueError(
            where,
            f"case {name} has the title of its statement, and a docstring",
            "write what the statement does not say as a comment, or drop it",
        )


def _check(
    where: str,
    name: str,
    statements: tuple[str, ...],
    kills: tuple[str, ...],
    parameters: list[str],
) -> None:
    if not statements:
        raise CatalogueError(
            where,
            f"case {name} names no statement",
            'move it to the file of a chapter, or give the id that it proves: @case("ns.…", kills=[…])',
        )
    for statement in statements:
        if not isinstance(statement, str) or not _STATEMENT_ID.fullmatch(statement):
            raise CatalogueError(
                where,
                f"case {name} names {statement!r}, which is no statement id",
                "an id is ns.<chapter>.<slug>, bk.… or wire.…, in lower case with dashes",
            )
    if len(set(statements)) != len(statements):
        raise CatalogueError(where, f"case {name} names a statement twice", "name each statement once")
    if not kills:
        raise CatalogueError(
            where,
            f"case {name} kills no mutant",
            "name in kills=[…] a mutant of the reference that it must find; if there is none, write one",
        )
    if len(set(kills)) != len(kills):
        raise CatalogueError(where, f"case {name} names a mutant twice in kills", "name each mutant once")
    if len(parameters) != 1 or parameters[0] not in _ROLES:
        raise CatalogueError(
            where,
            f"case {name} takes ({', '.join(parameters)})",
            "a case takes exactly one argument, the session with the target: ns (a NameServer), "
            "bk (a Broker) or peer (either)",
        )
