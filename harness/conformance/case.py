"""`@case`: what makes a pytest function a conformance case, and the checks that each case must stand.

Rules of this module:

* A case names at least one statement and at least one mutant, and has a docstring; else it does not load.
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
from harness.session import Setup

Function = TypeVar("Function", bound=Callable[..., Any])

ATTRIBUTE = "__rmq_case__"
_ROLES: dict[str, tuple[Role, ...]] = {"ns": ("nameserver",), "bk": ("broker",), "peer": ROLES}
"""What the argument of a case says about who is judged."""
_STATEMENT_ID = re.compile(r"(ns|bk|wire)(\.[a-z0-9]+(-[a-z0-9]+)*){2}")


@dataclass(frozen=True, slots=True)
class Case:
    """What `@case` says about a function."""

    statements: tuple[str, ...]
    kills: tuple[str, ...]
    clock: bool
    ends_leases: bool
    own_server: bool
    setup: Setup
    name: str
    title: str
    where: str  # file:line
    roles: tuple[Role, ...]


def case(
    *statements: str,
    kills: Iterable[str],
    clock: bool = False,
    ends_leases: bool = False,
    own_server: bool = False,
    setup: Mapping[str, str] | None = None,
) -> Callable[[Function], Function]:
    """Declare a case: the statements that it proves and the mutants that it must kill.

    `clock`: the case advances protocol time; `ends_leases`: so far that a lease runs out. `own_server`: it
    gets a fresh instance of the target for itself (one that it may restart or spoil). `setup`: its server is
    started with these settings, under Apache's names; cases of the same setup share a server, unless they
    also say `own_server`. Both are `unsupported` where the target cannot be started by us, or not with
    settings.

    Raises:
        CatalogueError: no statement, a malformed id, no mutant, no docstring, or other arguments than `ns`,
        `bk` or `peer`.
    """
    killed = (kills,) if isinstance(kills, str) else tuple(kills)

    def declare(function: Function) -> Function:
        where = f"{inspect.getsourcefile(function) or '?'}:{function.__code__.co_firstlineno}"
        title = (inspect.getdoc(function) or "").strip().split("\n", 1)[0].strip()
        name = function.__name__
        parameters = list(inspect.signature(function).parameters)
        _check(where, name, title, statements, killed, parameters)
        settings = tuple(sorted((setup or {}).items()))
        declared = Case(
            statements=statements,
            kills=killed,
            clock=clock or ends_leases,
            ends_leases=ends_leases,
            own_server=own_server,
            setup=settings,
            name=name,
            title=title,
            where=where,
            roles=_ROLES[parameters[0]],
        )
        setattr(function, ATTRIBUTE, declared)
        return function

    return declare


def case_of(function: object) -> Case | None:
    """The declaration of a case, or None for a function that is none."""
    declared = getattr(function, ATTRIBUTE, None)
    return declared if isinstance(declared, Case) else None


def _check(
    where: str,
    name: str,
    title: str,
    statements: tuple[str, ...],
    kills: tuple[str, ...],
    parameters: list[str],
) -> None:
    if not statements:
        raise CatalogueError(
            where, f"case {name} names no statement", 'give the id that it proves: @case("ns.…", kills=[…])'
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
    if not title:
        raise CatalogueError(
            where,
            f"case {name} has no docstring",
            "say in one sentence what holds; reports show it as the title",
        )
    if len(parameters) != 1 or parameters[0] not in _ROLES:
        raise CatalogueError(
            where,
            f"case {name} takes ({', '.join(parameters)})",
            "a case takes exactly one argument, the session with the target: ns (a NameServer), "
            "bk (a Broker) or peer (either)",
        )
