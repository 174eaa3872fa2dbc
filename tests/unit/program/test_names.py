"""Unique names."""

from __future__ import annotations

import random
import re

from harness.program.names import MADE_NAME, FreshNames, Names


def test_names_are_readable_legal_and_new() -> None:
    names = FreshNames(random.Random(1))
    made = [names.name(hint) for hint in ("T", "T", "T-2", "", "%RETRY%a b/ü", "x" * 300)]
    assert len(set(made)) == len(made)
    assert made[0] == f"T-{names.nonce}"
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,127}", name) for name in made)
    assert names.is_ours(made[0])
    assert not names.is_ours("T")


def test_addresses_are_private_and_new() -> None:
    names = FreshNames(random.Random(1))
    made = [names.address() for _ in range(600)]
    assert len(set(made)) == 600
    assert all(re.fullmatch(r"10\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{5}", address) for address in made)
    assert not any(address.split(":")[0].endswith((".0", ".255")) for address in made)


def test_two_sources_do_not_meet() -> None:
    nonces = {FreshNames(random.Random(seed)).nonce for seed in range(2000)}
    assert len(nonces) == 2000


def test_both_makers_leave_the_same_mark() -> None:
    fresh, by_symbol = FreshNames(random.Random(1)), Names(random.Random(2))
    for made, nonce in (
        (fresh.name("T"), fresh.nonce),
        (fresh.name("T"), fresh.nonce),
        (by_symbol.name("T0"), by_symbol.nonce),
    ):
        found = re.search(MADE_NAME, made)
        assert found is not None
        assert found[1] == nonce
    assert re.search(MADE_NAME, "DefaultCluster") is None
