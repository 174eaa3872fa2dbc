"""What reports call the value that a case compares, and a place in it: as the wire does, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.conformance.matchers import Path, at, below, is_cut, show

if TYPE_CHECKING:
    from harness.session.exchange import View


def value_name(view: View) -> str:
    """``body.brokerAddrTable["b-1"].brokerAddrs``, ``extFields.changed``, ``clusters that list b-1``."""
    if view.said:
        return view.said
    if view.path is not None:
        return at(("body", *view.path))
    if view.columns:
        return f"extFields.{view.columns[0]}" if len(view.columns) == 1 else "extFields"
    return view.name


def named(view: View | None, value: object, added: Path = ()) -> str:
    """A value, or a pattern, behind its name; ``added`` as `show` takes it. Without a view it has no name."""
    shown = show(value, added, () if view is None else view.columns)
    return shown if view is None else f"{value_name(view)}: {shown}"


def difference_name(view: View | None, path: Path, pattern: object, value: object) -> str:
    """``differs at brokerAddrs``: where, and what stands there if the whole is too long to be shown. Empty
    where the whole differs.
    """
    if not path:
        return ""
    columns = () if view is None else view.columns
    said = f"differs at {_place(columns, path, value)}"
    if not (is_cut(pattern, columns) or is_cut(value, columns)):
        return said
    for step in path:
        pattern, value = below(pattern, step), below(value, step)
    return f"{said}: expected {show(pattern, (), columns)}, actual {show(value, (), columns)}"


def _place(columns: tuple[str, ...], path: Path, value: object) -> str:
    steps: list[object] = []
    for step in path:
        is_column = isinstance(value, tuple) and isinstance(step, int) and len(value) == len(columns)
        steps.append(columns[step] if is_column else step)
        value = below(value, step)
    return at(tuple(steps))
