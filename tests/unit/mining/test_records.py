"""A run as a row: whole, canonical, and the same wherever it is made."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from harness.catalogue import Role
from harness.engine.kind import Tried
from harness.engine.kinds import KINDS, ROLES, Setting
from harness.mining.records import (
    Judged,
    Origin,
    Row,
    fault_of,
    fingerprint,
    letters,
    row_of,
    table_of,
)
from harness.mining.schema import ALPHABETS, COLUMNS, arrow_schema
from harness.program.broker import steps as bk
from harness.program.broker.steps import BrokerRequest
from harness.program.damages import Bits, Cut
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep, decode_step
from harness.spec import Observation
from harness.targets import parse
from harness.trace import Header, Sent, Trace

ORIGIN = Origin(
    campaign="c",
    role="nameserver",
    target="builtin:5.3?mutant=failure-without-remark",
    source="campaign",
    kind="stateful",
    profile="5.3",
    suite_version="0",
    catalogue_digest="d",
    generator="g",
)
CLOCKS = ("started", "elapsed_us", "latency_us")


BROKER = msgspec.structs.replace(ORIGIN, role="broker", target="builtin:5.3?mutant=hands-over-late")


def _tried(seed: int, kind: str = "stateful", origin: Origin = ORIGIN) -> Tried:
    target = parse(origin.target, origin.role)
    return KINDS[origin.role][kind](Setting(target=target, role=origin.role, profile="5.3", words="w")).run(
        seed
    )


def _row(tried: Tried, origin: Origin = ORIGIN, **changes: Any) -> Row:
    violation = next(iter(tried.attempt.violations), None)
    judged = Judged(outcome="pass" if violation is None else "fail", violation=violation)
    given = {
        "seed": 1,
        "attempt": 0,
        "program": tried.program,
        "recorded": tried.attempt,
        "goals": tried.goals,
        "started": datetime(2026, 1, 1, tzinfo=UTC),
        "elapsed_us": 7,
    }
    return row_of(origin, judged, **(given | changes))


@pytest.mark.parametrize(
    ("kind", "origin"), [*((kind, ORIGIN) for kind in KINDS["nameserver"]), ("stateful", BROKER)]
)
def test_every_column_is_there_and_every_array_is_whole(kind: str, origin: Origin) -> None:
    row = _row(_tried(3, kind, origin), origin)
    assert set(row) == {column.name for column in COLUMNS}
    table = table_of([row])
    assert table.schema.equals(arrow_schema())
    assert table_of([row], steps=False).schema.equals(arrow_schema(steps=False))
    assert row["steps"] == len(row["ops"]) == len(row["fp"]) > 0
    assert (row["mutant"], row["role"]) == (origin.mutant, origin.role)
    assert any(row["statements"])


def test_the_same_run_gives_the_same_row() -> None:
    one, other = _row(_tried(5)), _row(_tried(5))
    assert {key: one[key] for key in one if key not in CLOCKS} == {
        key: other[key] for key in other if key not in CLOCKS
    }


def test_a_failing_run_says_what_decides_and_where() -> None:
    row = _row(_tried(1))
    assert row["outcome"] == "fail"
    assert row["statement"] in row["statements"][row["failing_step"]]
    assert row["signature"].split("|")[0] == row["statement"]
    assert row["failing_step"] == row["steps"] - 1


def test_what_is_recorded_is_reported() -> None:
    tried = _tried(1)
    row = _row(tried)
    sent = sum(
        len(event.data) for event in tried.attempt.trace.events if getattr(event, "purpose", "") == "case"
    )
    assert sum(row["bytes_out"]) == sent
    assert [decode_step(line) for line in row["args"]] == list(tried.program)
    for at in range(row["steps"]):
        answered = row["answer"][at] == "answered"
        assert (row["response_code"][at] is not None) == answered == (row["latency_us"][at] is not None)
        assert not answered or row["request_code"][at] is not None
    assert row["at_us"] == sorted(row["at_us"])


def test_moments_are_on_one_scale_however_long_the_server_has_run() -> None:
    """A step without frames has none but the moments of the server's clock."""
    tried = _tried(1)
    program = (ns.Register(), Time(seconds=4.0), Close(conn="k1"))
    moments = (1000.0, 1000.5, 1004.5)
    sent = Sent(real=2.0, protocol=20.0, connection=1, data=b"")
    attempt = msgspec.structs.replace(
        tried.attempt,
        trace=Trace(Header(clock="warped", warp=10.0), (sent,)),
        observed=tuple(
            Observation(number=at, step=step, invoked=moment, returned=moment, asked=0 if at == 0 else -1)
            for at, (step, moment) in enumerate(zip(program, moments, strict=True))
        ),
        judged={},
    )
    row = _row(tried, program=program, recorded=attempt)
    assert row["at_us"] == [0, 500_000, 4_500_000]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"fp": [1]}, "elements in fp"),
        ({"ops": "R"}, "letters in ops"),
        ({"outcome": None}, "expected outcome"),
    ],
)
def test_a_torn_row_is_refused(broken: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        table_of([_row(_tried(1)) | broken])


def test_a_run_of_which_nothing_is_known_is_a_row_too() -> None:
    judged = Judged(outcome="error", message="KeyError: 'x'")
    row = row_of(
        ORIGIN,
        judged,
        seed=9,
        attempt=0,
        program=(),
        recorded=None,
        goals=(),
        started=datetime(2026, 1, 1, tzinfo=UTC),
        elapsed_us=1,
    )
    assert table_of([row])["actual"].to_pylist() == ["KeyError: 'x'"]
    assert row["fp_initial"] == _row(_tried(1))["fp_initial"]


# --- steps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        (ns.Register(), "register"),
        (ns.Register(id=1), "register-slave"),
        (ns.Permission(code=327), "add-permission"),
        (ns.Kv(code=219), "list-kv"),
        (Time(seconds=60), "time"),
        (Time(seconds=61), "long-time"),
        (ns.Damaged(), "damaged"),
        (bk.Send(), "send"),
        (bk.Send(more=("m1",)), "send-batch"),
        (bk.Send(half=True, level=1), "send-half"),
        (bk.Send(after=3), "send-later"),
        (bk.End(verdict=12), "roll-back-half"),
        (bk.Pull(suspend=5), "held-pull"),
        (bk.Bound(code=32), "earliest-time"),
        (bk.Lock(code=42), "unlock"),
        (bk.Switch(role="slave"), "demote"),
        (bk.Offsets(), "offsets"),
    ],
)
def test_rules_by_step(step: AnyStep, rule: str) -> None:
    assert step.rule == rule
    role: Role = "broker" if isinstance(step, BrokerRequest) else "nameserver"
    assert letters([rule], role) == ALPHABETS[role][rule]


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (ns.Route(), None),
        (Close(), None),
        (Close(how="reset"), "reset"),
        (Restart(how="term"), "term"),
        (ns.Route(cuts=(3,), stall=1, twice=True), "cut+stalled+twice"),
        (ns.Route(oneway=True, drop=("topic",)), "field-missing+one-way"),
        (ns.Damaged(damages=(Cut(), Bits())), "bits+cut"),
        (bk.NameServer(which=1, manner="silent"), "nameserver-silent"),
        (bk.NameServer(manner="knows"), None),
    ],
)
def test_faults_by_step(step: AnyStep, fault: str | None) -> None:
    assert fault_of(step) == fault


# --- fingerprints -------------------------------------------------------------------------------------------


def _print(*steps: AnyStep, role: Role = "nameserver") -> int:
    state = ROLES[role].state("5.3", 1)
    for step in steps:
        state.apply(step)
    return fingerprint(state)


TWO = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}


def test_equal_states_have_equal_prints_whatever_led_there() -> None:
    master, slave = ns.Register(topics=TWO), ns.Register(address="a1", id=1, topics=TWO)
    assert _print(master, slave) == _print(slave, master, slave)
    assert _print(master, slave, ns.Unregister(address="a1", id=1)) == _print(master)
    assert _print(master, ns.Route(), Time(seconds=3)) == _print(master)
    assert _print(ns.Kv(code=100), ns.Kv(code=102)) == _print(master, Time(seconds=200)) == _print()


def test_other_states_have_other_prints() -> None:
    master = ns.Register(topics=TWO)
    prints = [
        _print(),
        _print(master),
        _print(master, ns.DeleteTopic(topic="T0")),
        _print(master, ns.Kv(code=100)),
        _print(ns.Register(topics=TWO, cluster="c1")),
        _print(ns.Register(topics=TWO, id=1)),
    ]
    assert len(set(prints)) == len(prints)


def test_states_of_a_broker_are_what_it_holds_and_not_how_much() -> None:
    two = (bk.Send(), bk.Send(message="m1"))
    prints = [
        _print(*steps, role="broker")
        for steps in ((), two[:1], two, (bk.Send(half=True),), (*two, bk.Commit()), (*two, bk.Lock()))
    ]
    assert len(set(prints)) == len(prints)
    assert _print(*two, bk.Pull(), role="broker") == prints[2]
    assert _print(*two, bk.Send(message="m2"), role="broker") == prints[2]
    assert _print(role="broker") != _print()


def test_prints_are_signed_numbers_of_64_bits_that_never_change() -> None:
    assert _print() == -8172444188944916027  # of version 1: readers compare campaigns by it
    many = [_print(ns.Register(broker=f"b{number}")) for number in range(40)]
    assert pa.array(many, type=pa.int64()).to_pylist() == many
    assert min(many) < 0 < max(many)
