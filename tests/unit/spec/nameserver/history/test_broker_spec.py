"""What the history of a broker name may look like, where servers that are right differ."""

from __future__ import annotations

import math

import pytest

from harness.program.nameserver.steps import Queues
from harness.spec.linear import Call, search
from harness.spec.nameserver.history.broker_spec import BrokerSpec
from harness.spec.nameserver.history.operations import Leave, Registration, Writable

from .worked_examples import SCAN, TERM

TOPICS: tuple[tuple[str, Queues], ...] = (("T0", (4, 4, 6, 0)), ("T1", (4, 4, 6, 0)))


def registration(address: str, number: int, *, state: int = 0, acting: bool | None = None) -> Registration:
    return Registration(
        address=address,
        id=number,
        topics=TOPICS if number == 0 else (),
        version=(1, 0, state),
        conn=999,
        lease=120.0,
        acting=acting,
        accepted=True,
    )


@pytest.mark.parametrize("acting", [True, None])
@pytest.mark.parametrize("perm", [4, 6])
def test_an_outranked_registration_may_have_said_that_slaves_act(acting: bool | None, perm: int) -> None:
    """Write permission is gone when the master leaves then.

    `quirk.ignored-registration-describes-the-name`
    """
    actions = (
        registration("a0", 0),
        registration("a1", 1, state=1),
        registration("a2", 1, state=0, acting=acting),
        Leave("a0", 0),
        Writable("T0", perm),
    )
    calls = [
        Call(
            number=number,
            action=action,
            begin=(2.0 * number, -math.inf),
            end=(2.0 * number + 1, math.inf),
            reads=isinstance(action, Writable),
        )
        for number, action in enumerate(actions)
    ]
    key = BrokerSpec("5.3", term=TERM, scan=SCAN, end=10.0)
    answer = search(key, calls).answer
    assert answer == ("violated" if perm == 4 and acting is None else "linearizable")
