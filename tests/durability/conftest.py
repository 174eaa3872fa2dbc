"""What every campaign of kills reports."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def report_kills(
    record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> Callable[[int, int, str], None]:
    """`report_kills(25, 80, "answered writes")`: records both counts and prints them, passed or not."""

    def report(kills: int, count: int, counted: str) -> None:
        record_property("kills", kills)
        record_property(counted, count)
        with capsys.disabled():
            sys.stdout.write(f" {kills} kills, {count} {counted} ")

    return report
