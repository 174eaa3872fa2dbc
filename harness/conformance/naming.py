"""What reports call the value that a case compares, and a place in it: as the wire does, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.conformance.matchers import Path, at, show

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


def place_name(view: View | None, path: Path, value: object) -> str:
    """Where ``path`` leads in a value, without what the value itself is called."""
    steps: list[object] = []
    for step in path:
        if view is not None and isinstance(value, tuple) and isinstance(step, int):
            is_column = len(value) == len(view.columns)
            steps.append(view.columns[step] if is_column else step)
        else:
            steps.append(step)
        value = _below(value, step)
    return at(tuple(steps))


def _below(value: object, step: object) -> object:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
        return value[step]
    return None
