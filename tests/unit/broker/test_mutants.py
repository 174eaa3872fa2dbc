"""Mutants of the reference Broker. (That each can be built is seen in the self-test, which runs it.)"""

from __future__ import annotations

import pytest

from reference_impl.broker import build


class _Chance:
    def below(self, n: int) -> int:
        return n - 1


def test_a_mutant_of_the_other_server_is_refused() -> None:
    with pytest.raises(ValueError, match="not of a broker"):
        build("5.3", mutant="leases-never-end", chance=_Chance(), started=1)
