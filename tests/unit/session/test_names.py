"""Names that nobody else uses."""

from __future__ import annotations

import random
import re

from harness.session.names import Names


def test_names_are_readable_legal_and_new() -> None:
    names = Names(random.Random(1))
    made = [names.name(hint) for hint in ("T", "T", "T-2", "", "%RETRY%a b/ü", "x" * 300)]
    assert len(set(made)) == len(made)
    assert made[0] == f"T-{names.nonce}"
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,127}", name) for name in made)
    assert names.is_ours(made[0])
    assert not names.is_ours("T")


def test_addresses_are_private_and_new() -> None:
    names = Names(random.Random(1))
    made = [names.address() for _ in range(600)]
    assert len(set(made)) == 600
    assert all(re.fullmatch(r"10\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{5}", address) for address in made)
    assert not any(address.split(":")[0].endswith((".0", ".255")) for address in made)


def test_two_sources_do_not_meet() -> None:
    nonces = {Names(random.Random(seed)).nonce for seed in range(2000)}
    assert len(nonces) == 2000
