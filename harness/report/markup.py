"""Elements of HTML and SVG from plain values. Nothing gets into a page unescaped but what this module made.

Rules of this module:

1. A ``str`` is text: it is escaped, and its control characters are shown. A :class:`Markup` is markup.
2. Attributes keep their order, so that the same calls give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from harness.report.text import visible

__all__ = ["Child", "Markup", "element", "join"]


class Markup(str):
    """Text that is markup."""

    __slots__ = ()


Child = str | Markup | None

_EMPTY = frozenset({"br", "circle", "input", "line", "meta", "path", "polygon", "rect"})


def element(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """``<name attribute="value">children</name>``.

    ``class_`` means ``class``, ``text_anchor`` means ``text-anchor``. None and False leave an attribute out,
    and True gives it without a value.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{join(children)}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Markup:
    """The children side by side, those that are text escaped."""
    return Markup(between.join(_escaped(child) for child in children if child is not None))


def _escaped(child: str | Markup) -> str:
    return child if isinstance(child, Markup) else escape(visible(child, keep_lines=True))


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-").replace("viewbox", "viewBox")
    return f" {name}" if value is True else f' {name}="{escape(visible(str(value)))}"'
