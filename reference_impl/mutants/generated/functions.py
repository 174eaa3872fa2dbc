"""The functions of a module, what they do, statement by statement, and how a statement reads in one line."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Held: TypeAlias = ast.stmt | ast.excepthandler | ast.match_case
"""What a function does."""

_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of a statement that hold other statements."""
_FOR_PEOPLE = frozenset({"__repr__", "__str__"})
"""Functions for people who debug the reference."""
_DIAGNOSTICS = frozenset({"Diagnostic", "odd", "refuse"})
"""Calls whose arguments are the words and the place of a diagnostic: people read them, and no peer can."""
_LONGEST = 100
"""Characters of a statement in its name."""


class Statement(msgspec.Struct, frozen=True):
    """One statement of a function that does something when it runs."""

    name: str
    """File, function and the head of the statement: it holds while lines move."""
    line: int
    end: int
    """The lines of its head, without the statements in it."""


def statements_of(file: str, source: str) -> Iterator[tuple[str, list[Statement]]]:
    """The functions of a module, by qualified name, and what they do.

    Docstrings, declarations and the bodies of abstract methods do nothing. `file`: from the root of the
    repository, with slashes.
    """
    seen = Counter[str]()
    for qualified, function in functions(ast.parse(source)):
        found = []
        for one in statements(function):
            if _does_nothing(one):
                continue
            text = shown(one)
            name = f"{file}::{qualified}: {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"
            seen[name] += 1
            twin = f" #{seen[name]}" if seen[name] > 1 else ""
            found.append(Statement(name + twin, *lines_of(one)))
        yield qualified, found


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions of a module and of its classes, by qualified name; what they hold belongs to them."""
    pending: list[tuple[str, ast.stmt]] = [("", one) for one in tree.body]
    while pending:
        prefix, one = pending.pop(0)
        if isinstance(one, Function) and one.name not in _FOR_PEOPLE:
            yield prefix + one.name, one
        elif isinstance(one, ast.ClassDef):
            pending += [(f"{prefix}{one.name}.", part) for part in one.body]


def statements(function: ast.AST) -> Iterator[Held]:
    """What the function does, in the order of its lines, however deep."""
    for name in _BODIES:
        for one in getattr(function, name, ()):
            yield one
            yield from statements(one)


def head(statement: ast.AST) -> Iterator[ast.AST]:
    """The statement and its parts, without the statements that it holds and the words of diagnostics."""
    if isinstance(statement, ast.Call) and _name_of(statement.func) in _DIAGNOSTICS:
        return
    yield statement
    for name, value in ast.iter_fields(statement):
        if name in _BODIES and isinstance(value, list):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and name not in ("annotation", "returns", "type"):
                yield from head(part)


def _name_of(called: ast.expr) -> str | None:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)


def lines_of(statement: ast.AST) -> tuple[int, int]:
    """The first and the last line of its head."""
    lines = [one.lineno for one in head(statement) if hasattr(one, "lineno")]
    return min(lines), max(lines)


def shown(statement: ast.AST) -> str:
    """Its head in one line."""
    return ast.unparse(ast.fix_missing_locations(statement)).split("\n")[0]


def _does_nothing(one: Held) -> bool:
    if isinstance(one, ast.AnnAssign):
        return one.value is None
    if isinstance(one, ast.Raise):
        return isinstance(one.exc, ast.Name) and one.exc.id == "NotImplementedError"
    is_docstring = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    return is_docstring or isinstance(one, ast.Global | ast.Nonlocal | ast.match_case | Function)
