"""Numbers for readers: with thousands separators, denominators, intervals, units."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
"""One row of a table."""


def count(number: int | None) -> str:
    """``12,345``; an en dash for None."""
    return "–" if number is None else f"{number:,}"


def first_word(text: str) -> str:
    """``stateful-1`` of ``stateful-1 rules=30 …``: a generator without its settings."""
    return text.partition(" ")[0]


def percent(rate: float | None) -> str:
    """Two digits that count: ``0 %``, ``0.012 %``, ``3.4 %``, ``57 %``, ``99.96 %``."""
    if rate is None:
        return "–"
    value = 100 * rate
    if value == 0 or value == 100:
        return f"{value:.0f} %"
    if value > 90:
        return f"{100 - float(f'{100 - value:.2g}'):.6g} %"
    if value < 0.001:
        return "< 0.001 %"
    return f"{float(f'{value:.2g}'):.6g} %"


def interval(low: float, high: float) -> str:
    """``0.4 to 0.9 %``."""
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def share(part: int, whole: int) -> str:
    """``12 of 2,000``."""
    return f"{part:,} of {whole:,}"


def micros(value: float | None) -> str:
    """``8.2 µs``, ``120 µs``, ``1.4 ms``, ``2.0 s``."""
    if value is None:
        return "–"
    for unit, size in (("µs", 1.0), ("ms", 1e3), ("s", 1e6)):
        if abs(value) < 1000 * size or unit == "s":
            number = value / size
            return f"{number:.1f} {unit}" if abs(number) < 10 else f"{number:,.0f} {unit}"
    raise AssertionError
