"""Programs of which steps are left out, as shrinking and going round deviations leave them: no step that is
missing may make the specification wrong about the rest.
"""

from __future__ import annotations

import pytest

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.role import BROKER
from harness.engine.context import TargetContext
from harness.engine.nameserver.role import NAMESERVER
from harness.engine.pair.kind import PairKind
from harness.engine.pair.role import PAIR
from harness.engine.role import Role
from harness.engine.stateful import StatefulKind
from harness.program.broker.steps import Send
from harness.program.chance import chance
from harness.targets import parse

PROGRAMS = 5
LEFT_OUT = (0.1, 0.4, 0.8)
"""Shares of the steps."""


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
@pytest.mark.parametrize(
    ("role", "makes"),
    [(NAMESERVER, StatefulKind), (BROKER, StatefulKind), (PAIR, PairKind)],
    ids=["nameserver", "broker", "pair"],
)
def test_the_reference_breaks_nothing_whatever_is_left_out(
    role: Role, makes: type[StatefulKind], profile: str
) -> None:
    kind = makes(TargetContext(parse(f"builtin:{profile}", role.name), profile, role=role), "thinned")
    for seed in range(PROGRAMS):
        program, source = kind.program(seed), chance("thinned", seed)
        for share in LEFT_OUT:
            thinned = tuple(step for step in program if source.random() >= share)
            if thinned:
                assert kind.experiment.attempt(thinned, fresh=False).violations == (), thinned
    kind.close()


def test_messages_of_steps_that_were_left_out_leave_their_symbols_behind() -> None:
    state = ProgramState("5.3")
    state.apply(Send(message="m0"))
    state.apply(Send(message="m2", more=("m3",)))
    assert (state.symbol(), state.symbol(1)) == ("m4", "m5")
