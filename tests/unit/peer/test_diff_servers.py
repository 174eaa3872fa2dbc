"""The servers of a comparison: what earlier programs left there, both of them have or neither."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from peer_helpers import always

from harness.engine.peer.experiment import PeerExperiment
from harness.engine.peer.journal import Head, Journal
from harness.engine.peer.rounds import Rounds
from harness.findings.store import FindingStore
from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.session import Instance
from harness.targets import parse

PUT_AND_DELETED = (ns.Kv(code=100, namespace="n0", key="x"), ns.Kv(code=102, namespace="n0", key="x"))
ASKED = (ns.Kv(code=219, namespace="n0"),)


class Target:
    """A built-in one that counts its servers; ``changes`` say what it costs to start one."""

    def __init__(self, **changes: Any) -> None:
        self._inside = parse("builtin:4.9")
        self.uri, self.line, self.server, self.waits_alone = "exec:fake", "4.9", None, False
        self.capabilities = msgspec.structs.replace(self._inside.capabilities, **changes)
        self.started = 0

    def start(self) -> Instance:
        self.started += 1
        return self._inside.start()


CHEAP: dict[str, Any] = {}
COSTLY = {"starts": "slowly", "warp": 60.0}
FOREIGN = {"starts": "never", "warp": 1.0}


def pair_of(a: dict[str, Any], b: dict[str, Any]) -> tuple[PeerExperiment, Target, Target]:
    one, other = Target(**a), Target(**b)
    return PeerExperiment((one, other), "4.9", (), "servers"), one, other  # type: ignore[arg-type]


@pytest.mark.parametrize("costs", [(CHEAP, COSTLY), (COSTLY, CHEAP), (CHEAP, FOREIGN), (COSTLY, FOREIGN)])
@pytest.mark.parametrize("fresh", [False, True])
def test_what_a_program_left_is_on_both_servers_or_on_neither(
    costs: tuple[dict[str, Any], dict[str, Any]], fresh: bool
) -> None:
    """An empty KV namespace stays, and is answered differently from one that never was."""
    experiment, one, other = pair_of(*costs)
    experiment.compare(PUT_AND_DELETED)
    assert not experiment.compare(ASKED, fresh=fresh).divergences
    experiment.restart()
    assert not experiment.compare(ASKED).divergences
    assert one.started == other.started == (1 if FOREIGN in costs else 3 if fresh else 2)
    experiment.close()


def test_where_neither_costs_anything_each_program_has_new_servers() -> None:
    experiment, one, other = pair_of(CHEAP, CHEAP)
    experiment.compare(PUT_AND_DELETED)
    experiment.compare(ASKED)
    assert one.started == other.started == 2


def test_a_run_on_servers_of_unlike_cost_has_nothing_that_does_not_show_again() -> None:
    experiment, _, _ = pair_of(CHEAP, COSTLY)
    journal = Journal(None, Head(a="a", b="b", profile="4.9", seed="live"), resume=False)
    run = Rounds(experiment, seed="live", quirks=(), journal=journal, store=FindingStore(None))
    entries = list(run.play(2000, always))
    experiment.close()
    assert not run.store.findings
    assert not any(entry.unrepeated or entry.given_up for entry in entries)


class Starved(Target):
    """One whose clock runs ahead, by more than a lease, while the effects of a step are waited for."""

    def start(self) -> Instance:
        instance = super().start()
        pause = instance.clock.pause

        def starved(seconds: float) -> None:
            if instance.clock.now() > WAITED:
                instance.clock.advance(LEASE, lambda: None)
            pause(seconds)

        instance.clock.pause = starved  # type: ignore[method-assign]
        return instance


WAITED, LEASE = 70, 120


def test_what_a_clock_that_ran_ahead_brings_about_behind_a_step_does_not_count() -> None:
    """The clocks are right when the step is over: the server loses its processor while it is looked at."""
    program = (
        ns.Register(conn="k0", broker="b0", address="a0", topics={"T": (8, 8, 6, 0)}),
        Time(seconds=WAITED + 1),
    )
    steady = PeerExperiment((Target(), Target()), "4.9", (), "servers")  # type: ignore[arg-type]
    assert not steady.compare(program).stalled
    steady.close()
    experiment = PeerExperiment((Target(), Starved()), "4.9", (), "servers")  # type: ignore[arg-type]
    compared = experiment.compare(program)
    experiment.close()
    assert compared.stalled
    assert not compared.attempt.violations
