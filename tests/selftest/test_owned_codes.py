"""Every request code that cases send has an owner: a case that really sends it, and needs no lease to end."""

from __future__ import annotations

import pytest

from harness.catalogue import Role, catalogue, messages
from harness.conformance.case_run import CaseRun, Setting
from harness.conformance.loading import cases
from harness.conformance.owners import owners_under
from harness.session import RunningClock
from harness.targets import parse


@pytest.mark.parametrize(
    ("role", "profile"),
    [
        ("nameserver", "4.9"),
        ("nameserver", "5.5"),
        ("broker", "5.5"),
        *(pytest.param("broker", line, marks=pytest.mark.soak) for line in ("4.9", "5.3")),
    ],
)
def test_every_code_that_cases_send_has_an_owner_that_sends_it(role: Role, profile: str) -> None:
    known, loaded = catalogue().of(role), cases(role=role)
    target = parse(f"builtin:{profile}", role)
    setting = Setting(known, profile, target.uri, role=role)
    sent: dict[str, frozenset[int]] = {}
    for one in loaded:
        if one.statements(known, profile):
            run = CaseRun(setting, one, RunningClock())
            instance = target.another(one.case.setup)
            run.within(lambda run=run, instance=instance: run.measure(instance))
            instance.stop()
            assert run.attempt.has_held, run.attempt.result
            sent[one.name] = run.attempt.evidence.codes
    owners = owners_under(profile, known, loaded, messages().of(role))
    served = {
        one.code for one in messages().of(role) if not one.sent and profile in (one.profiles or (profile,))
    }
    assert frozenset[int]().union(*sent.values()) & served <= set(owners)
    assert [code for code, owner in owners.items() if code not in sent[owner.case.name]] == []
    assert [owner.statement for owner in owners.values() if owner.case.case.ends_leases] == []
