"""Every fault that one change of one function makes.

A fault is named by its file, its function and the words before and after the change, so that its name holds
while lines move.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

import msgspec

from reference_impl.mutants.generated.functions import Function, functions, head, lines_of, shown, statements
from reference_impl.mutants.generated.operators import variants

_BESIDE = 40
"""Characters that a name shows beside a change."""


class Site(msgspec.Struct, frozen=True):
    """A place for a change: cheap to find, and not yet proven to compile."""

    file: str
    function: str
    """Its qualified name."""
    first: int
    """The first line of the function's code; it tells a property's functions apart."""
    line: int
    end: int
    """The lines of the statement that changes, without the statements in it."""
    statement: int
    node: int
    variant: int
    """Which statement of the function, which node of its head, and which change of that node."""


class Fault(msgspec.Struct, frozen=True):
    """One change of one function, which compiles and can replace the function in a running server."""

    site: Site
    operator: str
    before: str
    """The statement, or the head of it, in one line."""
    after: str
    number: int
    """Which of the changes of the function that read the same."""

    @property
    def name(self) -> str:
        """Its name for people and for the list of explained survivors."""
        twin = f" #{self.number}" if self.number > 1 else ""
        change = " → ".join(_around_difference(self.before, self.after))
        return f"{self.site.file}::{self.site.function}: {change}{twin}"


def sites_of(file: str, source: str) -> Iterator[Site]:
    """Every place for a change in a module. `file`: from the root of the repository, with slashes."""
    for qualified, function in functions(ast.parse(source)):
        first = _first(function)
        for statement, held in enumerate(statements(function)):
            for node, part in enumerate(head(held)):
                for variant, _ in enumerate(variants(part)):
                    yield Site(file, qualified, first, *lines_of(held), statement, node, variant)


def fault_at(site: Site, source: str) -> Fault | None:
    """The fault of a place; None if the change does not compile, changes nothing, or changes what the
    function takes from its surroundings.
    """
    function = _function(source, site)
    statement = list(statements(function))[site.statement]
    before = shown(statement)
    found = None
    same: list[str] = []
    for number, other in enumerate(statements(function)):
        if shown(other) != before:
            continue
        for node, part in enumerate(head(other)):
            for variant, (operator, new) in enumerate(variants(part)):
                after = _after(other, part, new, operator)
                if (number, node, variant) == (site.statement, site.node, site.variant):
                    found = Fault(site, operator, before, after, same.count(after) + 1)
                same.append(after)
    if found is None:
        raise ValueError(f"{site.file} has no such place: {site}")
    sound, faulty = code_of(ast.parse(source), site), faulty_code(site, source)
    is_other = faulty is not None and faulty != sound and faulty.co_freevars == sound.co_freevars
    return found if is_other else None


def faulty_code(site: Site, source: str) -> CodeType | None:
    """The code of the changed function; None if it does not compile."""
    tree = ast.parse(source)
    function = _function(tree, site)
    part = list(head(list(statements(function))[site.statement]))[site.node]
    _, new = list(variants(part))[site.variant]
    _Replacing(part, new).visit(tree)
    try:
        return code_of(ast.fix_missing_locations(tree), site)
    except (SyntaxError, ValueError, TypeError):
        return None


def code_of(tree: ast.Module, site: Site) -> CodeType:
    """The code of the site's function. Raises SyntaxError and the like for a tree that is no program."""
    pending: list[CodeType] = [compile(tree, site.file, "exec", dont_inherit=True)]
    while pending:
        code = pending.pop()
        if (code.co_qualname, code.co_firstlineno) == (site.function, site.first):
            return code
        pending += [one for one in code.co_consts if isinstance(one, CodeType)]
    raise ValueError(f"{site.file} has no function {site.function} at line {site.first}")


def _around_difference(before: str, after: str) -> tuple[str, str]:
    """Two statements, cut down to where they differ and what stands next to it."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start, rest = max(0, head - _BESIDE), max(0, tail - _BESIDE)
    lead, trail = "…" if start else "", "…" if rest else ""
    first, second = (f"{lead}{one[start : len(one) - rest]}{trail}" for one in (before, after))
    return first, second


class _Replacing(ast.NodeTransformer):
    """Puts a node in the place of another one."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._old:
            return ast.copy_location(self._new, node)
        return self.generic_visit(node)


def _function(source: str | ast.Module, site: Site) -> Function:
    tree = ast.parse(source) if isinstance(source, str) else source
    for qualified, function in functions(tree):
        if (qualified, _first(function)) == (site.function, site.first):
            return function
    raise ValueError(f"{site.file} has no function {site.function} at line {site.first}")


def _first(function: Function) -> int:
    """Where its code says that it begins."""
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def _after(statement: ast.AST, part: ast.AST, new: ast.AST, operator: str) -> str:
    """The statement's head with the change in it."""
    if part is statement:
        after = shown(new)
    else:  # in place, and back again
        _Replacing(part, new).visit(statement)
        after = shown(statement)
        _Replacing(new, part).visit(statement)
    return after if after != shown(statement) else f"{after} [{operator}]"
