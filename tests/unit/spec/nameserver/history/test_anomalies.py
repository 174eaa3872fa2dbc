"""Each anomaly has its name: in the small, and where it is put into a history that had none."""

from __future__ import annotations

import math

import msgspec
import pytest

from harness.spec.history.register import Delete, RegisterSpec
from harness.spec.linear import Call, search
from harness.spec.nameserver.history.anomalies import ANOMALIES, DIVERGENT, LOST_UPDATE, NAMING, RESURRECTED
from harness.spec.nameserver.history.broker_spec import BrokerSpec
from harness.spec.nameserver.history.operations import Leave, Permissions, Registration
from harness.spec.nameserver.history.per_key import projected

from .simulated import simulated
from .worked_examples import EXAMPLES, SCAN, TERM, Example


def test_every_anomaly_has_an_example() -> None:
    """But those of several NameServers, and what has no name."""
    assert {*EXAMPLES} == {*ANOMALIES} - {DIVERGENT, "no order"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name: str) -> None:
    """It is not linearizable, and it is what it is called; without what it saw nothing is wrong."""
    example = EXAMPLES[name]
    assert search(example.make(), example.calls).answer == "violated"
    assert NAMING.explained(example.kind, example.calls, example.make).anomaly.name == name
    assert search(example.make(), [call for call in example.calls if not call.reads]).answer == "linearizable"


@pytest.mark.parametrize("name", EXAMPLES)
def test_decisive_calls_are_few_and_still_wrong(name: str) -> None:
    example = EXAMPLES[name]
    decisive = NAMING.explained(example.kind, example.calls, example.make).calls
    assert decisive
    assert {call.number for call in decisive} <= {call.number for call in example.calls}
    assert search(example.make(), decisive).answer == "violated"


def test_a_change_with_a_wrong_answer_decides_and_not_what_builds_on_it() -> None:
    """The reply to a master names a master, which is wrong; the later count of its topics is right."""
    registered = Registration(
        address="a1",
        id=0,
        topics=(("T0", (4, 4, 6, 0)), ("T1", (4, 4, 6, 0))),
        version=(1, 0, 0),
        conn=1,
        lease=120.0,
        accepted=True,
        told=("a9", False),
    )
    calls = [
        Call(number=0, action=registered, begin=(0.0, 0.0), end=(0.1, 0.0)),
        Call(number=1, action=Permissions(add=True, count=2), begin=(0.2, 0.0), end=(0.3, 0.0)),
    ]

    def make(relaxed: str | None) -> BrokerSpec:
        return BrokerSpec("5.3", term=TERM, scan=SCAN, end=1.0, shared=frozenset(), relaxed=relaxed)

    right = msgspec.structs.replace(registered, told=(None, False))
    sound = [msgspec.structs.replace(calls[0], action=right), calls[1]]
    assert search(make(None), sound).answer == "linearizable"
    assert search(make(None), calls).answer == "violated"
    assert [call.number for call in NAMING.explained("broker", calls, make).calls] == [0]


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize("name", EXAMPLES)
def test_injected_anomaly_is_named(name: str, seed: int) -> None:
    """Behind a random history of the same key, in which everybody has left at last."""
    example = EXAMPLES[name]
    calls, end = _random_calls(example, seed)
    shared = frozenset[int]()

    def make(relaxed: str | None) -> BrokerSpec | RegisterSpec:
        if example.kind == "kv":
            return RegisterSpec(relaxed, lost=LOST_UPDATE, back=RESURRECTED)
        return BrokerSpec("5.3", term=TERM, scan=SCAN, end=end + 200, shared=shared, relaxed=relaxed)

    assert search(make(None), calls).answer == "linearizable"
    after = [_later(call, end) for call in example.calls]
    found = NAMING.explained(example.kind, [*calls, *after], make)
    assert found.anomaly.name == name


def _random_calls(example: Example, seed: int) -> tuple[list[Call], float]:
    """Calls of one key of a random history, and when the last of them has ended; what it holds then is
    nothing.
    """
    tried = (simulated(f"injected-{seed}-{at}", "5.3", steps=30) for at in range(100))
    keys = (
        key for observed, names in tried for key in projected(observed, names, "5.3", term=TERM).keys.values()
    )
    key = next(key for key in keys if key.kind == example.kind and len(key.calls) > 3)
    end = max(call.end[0] for call in key.calls if call.end[0] < math.inf) + 1
    if example.kind == "kv":
        leaving: list[object] = [Delete()]
    else:
        addresses = {one.action.address for one in key.calls if isinstance(one.action, Registration)}
        leaving = [Leave(address, 0) for address in sorted(addresses)]
    gone = [
        Call(number=900 + at, action=action, begin=(end + at, 0), end=(end + at + 0.5, 0))
        for at, action in enumerate(leaving)
    ]
    return [*key.calls, *gone], end + len(leaving) + 1


def _later(call: Call, by: float) -> Call:
    return msgspec.structs.replace(
        call,
        number=call.number + 1000,
        begin=(call.begin[0] + by, call.begin[1]),
        end=(call.end[0] + by, call.end[1]),
    )
