"""Every mutant of the reference Broker can be built, and is one in one place."""

from __future__ import annotations

import pytest

from reference_impl.broker import Config, build
from reference_impl.broker.parts import PARTS
from reference_impl.mutants import apply, mutants_of


class _Chance:
    def below(self, n: int) -> int:
        return n - 1


@pytest.mark.parametrize("profile", PARTS)
def test_every_mutant_can_be_built(profile: str) -> None:
    sound = PARTS[profile]
    names = [name for name, found in mutants_of("broker").items() if profile in found.profiles]
    assert names
    for name in names:
        assert apply(name, sound, "broker") != sound, name
        assert build(profile, config=Config(), mutant=name, chance=_Chance(), started=1) is not None, name


def test_a_mutant_of_the_other_server_is_refused() -> None:
    with pytest.raises(ValueError, match="not of a broker"):
        build("5.3", mutant="leases-never-end", chance=_Chance(), started=1)
