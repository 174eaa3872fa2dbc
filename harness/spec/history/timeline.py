"""Overlapping calls as a text diagram: one line each, a bar from its begin to its end.

What matters is which calls overlap, so every begin and end has a column of its own and
times are not to scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.spec.history.register import Delete, Get, Put
from harness.spec.linear import Call

Texts = Mapping[type, Callable[[Any], str]]
"""How actions are written, by their types: what was asked and seen, in one line."""

OF_REGISTERS: Texts = {
    Put: lambda one: f"put {one.value}",
    Get: lambda one: f"get → {'nothing' if one.value is None else one.value}",
    Delete: lambda _: "delete",
}


def timeline(calls: Sequence[Call], texts: Texts, width: int = 40) -> str:
    """The diagram. ``┠──┨`` was answered, ``┠──…`` was not, or takes effect behind its answer."""
    moments = sorted(
        {moment for call in calls for moment in (call.begin, call.end) if moment[0] < float("inf")}
    )
    step = max(2, min(6, width // max(1, len(moments))))
    column = {moment: step * at for at, moment in enumerate(moments)}
    last = step * len(moments) + 1
    lines = []
    for call in calls:
        begin, end = column.get(call.begin, 0), column.get(call.end, last)
        known = call.end in column
        bar = " " * begin + "┠" + "─" * max(0, end - begin - 1) + ("┨" if known else "…")
        lines.append(f"#{call.number:<4}{bar:<{last + 2}} {call_text(call, texts)}")
    return "\n".join(lines)


def call_text(call: Call, texts: Texts) -> str:
    """``register a0 as 0, …``: what was asked and seen, in one line."""
    text = texts[type(call.action)](call.action)
    return text if call.required else f"{text} (perhaps)"
