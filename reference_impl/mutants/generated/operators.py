"""Small changes of a syntax tree: what a tired programmer writes instead.

`variants` is pure. A change is a new node in place of the old one; the old tree is left as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

Variant: TypeAlias = tuple[str, ast.AST]
"""What was done, and the node that takes the place of the old one."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


def variants(node: ast.AST) -> Iterator[Variant]:
    """Every change of the node itself; its parts have changes of their own."""
    for kind, change in _OPERATORS:
        if isinstance(node, kind):
            yield from change(node)


def _changed(node: ast.AST, **fields: Any) -> ast.AST:
    """A copy with other fields; their values may be shared with the old node."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _compared(node: ast.Compare) -> Iterator[Variant]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            operators = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield "comparison", _changed(node, ops=operators)


def _calculated(node: ast.BinOp) -> Iterator[Variant]:
    is_text = isinstance(node.left, ast.Constant | ast.JoinedStr) and not isinstance(
        getattr(node.left, "value", None), int
    )
    if type(node.op) in _ARITHMETIC and not is_text:
        yield "arithmetic", _changed(node, op=_ARITHMETIC[type(node.op)]())


def _joined(node: ast.BoolOp) -> Iterator[Variant]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and-or", _changed(node, op=other)
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield "term dropped", rest[0] if len(rest) == 1 else _changed(node, values=rest)


def _unary(node: ast.UnaryOp) -> Iterator[Variant]:
    if isinstance(node.op, ast.Not):
        yield "negation", node.operand


def _tested(node: ast.If | ast.While | ast.IfExp) -> Iterator[Variant]:
    if not (isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)):
        yield "negation", _changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.If) and not node.orelse:
        yield "always", _changed(node, test=ast.Constant(True))


def _filtered(node: ast.comprehension) -> Iterator[Variant]:
    for place in range(len(node.ifs)):
        yield "filter dropped", _changed(node, ifs=[*node.ifs[:place], *node.ifs[place + 1 :]])


def _constant(node: ast.Constant) -> Iterator[Variant]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        yield "constant", ast.Constant(value - 1)


def _called(node: ast.Call) -> Iterator[Variant]:
    arguments, keywords = node.args, node.keywords
    for place, (one, other) in enumerate(pairwise(arguments)):
        if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
            exchanged = [*arguments[:place], other, one, *arguments[place + 2 :]]
            yield "arguments exchanged", _changed(node, args=exchanged)
    for place, keyword in enumerate(keywords):
        if keyword.arg is not None:
            yield "field left out", _changed(node, keywords=[*keywords[:place], *keywords[place + 1 :]])
    if isinstance(node.func, ast.Name) and node.func.id in _TWINS:
        yield "other function", _changed(node, func=ast.Name(_TWINS[node.func.id], ast.Load()))


def _listed(node: ast.List | ast.Tuple | ast.Set) -> Iterator[Variant]:
    if len(node.elts) > 1 and not isinstance(getattr(node, "ctx", None), ast.Store):
        for place in range(len(node.elts)):
            yield "element left out", _changed(node, elts=[*node.elts[:place], *node.elts[place + 1 :]])


def _mapped(node: ast.Dict) -> Iterator[Variant]:
    for place in range(len(node.keys)):
        keys, values = list(node.keys), list(node.values)
        del keys[place], values[place]
        yield "entry left out", _changed(node, keys=keys, values=values)
    for place in range(len(node.keys) - 1):
        values = list(node.values)
        values[place], values[place + 1] = values[place + 1], values[place]
        yield "entries exchanged", _changed(node, values=values)


def _done(node: ast.stmt) -> Iterator[Variant]:
    """A statement dropped, if what follows can still run."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name | ast.Tuple) for one in node.targets):
        return  # a name that what follows needs
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
        return  # `raise NotImplementedError`: never reached
    yield "statement dropped", ast.Pass()


def _returned(node: ast.Return) -> Iterator[Variant]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield "nothing returned", _changed(node, value=None)


def _repeated(node: ast.For) -> Iterator[Variant]:
    yield "only the first", _changed(node, body=[*node.body, ast.Break()])
    last = _changed(node, iter=ast.Subscript(_listing(node.iter), _slice(1, None), ast.Load()))
    yield "not the first", last


def _comprehended(node: ast.comprehension) -> Iterator[Variant]:
    yield (
        "not the first",
        _changed(node, iter=ast.Subscript(_listing(node.iter), _slice(1, None), ast.Load())),
    )


def _listing(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("list", ast.Load()), [value], [])


def _slice(start: int | None, stop: int | None) -> ast.Slice:
    ends = (None if one is None else ast.Constant(one) for one in (start, stop))
    return ast.Slice(*ends)


def _tried(node: ast.ExceptHandler) -> Iterator[Variant]:
    if not all(isinstance(one, ast.Pass) for one in node.body):
        yield "exception swallowed", _changed(node, body=[ast.Pass()])


_OPERATORS: tuple[tuple[Any, Callable[[Any], Iterator[Variant]]], ...] = (
    (ast.Compare, _compared),
    (ast.BinOp, _calculated),
    (ast.BoolOp, _joined),
    (ast.UnaryOp, _unary),
    (ast.If | ast.While | ast.IfExp, _tested),
    (ast.comprehension, _filtered),
    (ast.comprehension, _comprehended),
    (ast.Constant, _constant),
    (ast.Call, _called),
    (ast.List | ast.Tuple | ast.Set, _listed),
    (ast.Dict, _mapped),
    (ast.Expr | ast.Assign | ast.AugAssign | ast.Delete | ast.Raise | ast.Continue | ast.Break, _done),
    (ast.Return, _returned),
    (ast.For, _repeated),
    (ast.ExceptHandler, _tried),
)
