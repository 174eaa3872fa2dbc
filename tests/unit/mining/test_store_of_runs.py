"""Chunks are stored whole or not at all, and those present show which are missing."""

import threading
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from harness.engine.kinds import KINDS, Setting
from harness.mining.campaign import Campaign, Plan, missing, settings_of
from harness.mining.errors import MiningError
from harness.mining.schema import arrow_schema
from harness.mining.store import Settings, Span, Store
from harness.mining.worker import Order, Receipt, carry_out, close_all, generator_of
from harness.trace import read_trace

MUTANT = "builtin:5.3?mutant=failure-without-remark"


def _settings(**changes: object) -> Settings:
    usual = {"chunk": 10, "shrink": 1, "attempts": 40, "deadline": 60.0, "sample": 5}
    return settings_of(**(usual | changes))


def _plan(
    root: Path, *, target: str = "builtin:5.3", runs: int = 25, seed: int = 1, **changes: object
) -> Plan:
    return Plan(
        root=str(root),
        campaign="c 1",
        targets=((target, "5.3"),),
        kinds=("stateful",),
        seed=seed,
        runs=runs,
        settings=_settings(**changes),
    )


def _order(root: Path, first: int, last: int, target: str = "builtin:5.3", kind: str = "stateful") -> Order:
    span = Span(kind, first, last)
    return Order(
        root=str(root), campaign="c 1", target=target, profile="5.3", span=span, settings=_settings()
    )


def _played(root: Path, first: int, last: int, target: str = "builtin:5.3") -> Receipt:
    return carry_out(_order(root, first, last, target))


# --- what is missing ----------------------------------------------------------------------------------------


def test_all_is_missing_at_first_and_no_span_crosses_a_chunk(tmp_path: Path) -> None:
    assert missing(_plan(tmp_path), []) == [
        Span("stateful", 1, 10),
        Span("stateful", 11, 20),
        Span("stateful", 21, 25),
    ]


def test_only_gaps_are_missing(tmp_path: Path) -> None:
    there = [Span("stateful", 3, 4), Span("stateful", 11, 20), Span("frames", 1, 25)]
    assert missing(_plan(tmp_path), there) == [
        Span("stateful", 1, 2),
        Span("stateful", 5, 10),
        Span("stateful", 21, 25),
    ]
    assert missing(_plan(tmp_path), [Span("stateful", 0, 99)]) == []


def test_more_runs_are_gone_on_with(tmp_path: Path) -> None:
    there = missing(_plan(tmp_path), [])
    assert missing(_plan(tmp_path, runs=32), there) == [Span("stateful", 26, 30), Span("stateful", 31, 32)]


# --- chunks -------------------------------------------------------------------------------------------------


def test_a_chunk_is_rows_an_index_and_traces(tmp_path: Path) -> None:
    receipt = _played(tmp_path, 15, 18, MUTANT)
    assert receipt.tally.runs == 4 and receipt.tally.outcomes["fail"] > 0
    part = "campaign=c%201/target=builtin%3A5.3%3Fmutant%3Dfailure-without-remark"
    whole = pq.read_table(tmp_path / "runs" / part / "stateful-15-18.parquet", partitioning=None)
    assert whole.schema.equals(arrow_schema())
    assert whole["seed"].to_pylist() == [15, 16, 17, 18]
    index = pq.read_table(tmp_path / "index" / part / "stateful-15-18.parquet", partitioning=None)
    assert index.equals(whole.select(index.column_names))
    failing = [row for row in whole.to_pylist() if row["outcome"] == "fail"]
    assert all(row["confirmed_shown"] == row["confirmed_tried"] for row in failing)
    assert sum(row["shrunk_ops"] is not None for row in failing) == len({row["signature"] for row in failing})
    file, _, member = failing[0]["trace"].partition("#")
    with zipfile.ZipFile(tmp_path / file) as pack:
        kept = {15, *(row["seed"] for row in failing)}  # 15: a sample
        assert pack.namelist() == [f"stateful-{seed}.trace" for seed in sorted(kept)]
        read_trace(Path(pack.extract(member, tmp_path / "unpacked")))
    assert Store(str(tmp_path)).campaigns() == {"c 1": [MUTANT]}
    assert list((tmp_path / ".partial").rglob("*.parquet")) == []


def test_the_same_seeds_give_the_same_rows_in_other_chunks(tmp_path: Path) -> None:
    clocks = {"started", "elapsed_us", "latency_us"}
    of_the_first = {"trace", "shrunk_ops", "shrunk_program", "also_fails"}

    def rows(root: Path) -> list[dict[str, object]]:
        files = sorted(root.rglob("runs/**/*.parquet"), key=lambda path: int(path.stem.split("-")[1]))
        found = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
        return [
            {key: row[key] for key in row if key not in clocks | of_the_first}
            | {"statement": row["statement"], "confirmed": bool(row["confirmed_tried"])}
            for row in found
        ]

    _played(tmp_path / "a", 14, 19, MUTANT)
    for first, last in ((17, 19), (14, 15), (16, 16)):
        close_all()
        _played(tmp_path / "b", first, last, MUTANT)
    one, other = rows(tmp_path / "a"), rows(tmp_path / "b")
    for row in (*one, *other):
        row.pop("confirmed_shown"), row.pop("confirmed_tried")  # the first of a chunk are confirmed better
    assert one == other


def test_a_chunk_reports_while_it_is_under_way(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.begin("c 1")
    seen: list[int] = []
    looks = 0

    def now() -> float:
        nonlocal looks
        looks += 1
        seen.extend(one.runs for one in store.reported("c 1") if not one.size)
        return float(looks)

    receipt = carry_out(_order(tmp_path, 1, 12), now=now)
    assert seen == sorted(seen) and 0 < seen[0] < 12
    assert store.reported("c 1") == [receipt.tally] and receipt.tally.size > 0
    store.begin("c 1")
    assert store.reported("c 1") == []


def test_a_chunk_ends_when_it_is_asked_to_and_keeps_what_it_has(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.begin("c 1")
    looks = 0

    def now() -> float:
        nonlocal looks
        looks += 1
        if looks == 12:
            store.ask_to_stop("c 1")
        return float(looks)

    receipt = carry_out(_order(tmp_path, 1, 50), now=now)
    assert 0 < receipt.tally.runs < 12
    assert store.spans("c 1", "builtin:5.3") == [Span("stateful", 1, receipt.tally.runs)]
    assert carry_out(_order(tmp_path, 20, 50)).tally.runs == 0
    store.begin("c 1")
    assert not store.is_to_stop("c 1")


def test_orphans_and_doubles_are_swept(tmp_path: Path) -> None:
    _played(tmp_path, 1, 4)
    _played(tmp_path, 2, 3)
    part = tmp_path / "index" / "campaign=c%201" / "target=builtin%3A5.3"
    (part / "stateful-5-9.parquet").write_bytes(b"written, and then its writer died")
    left = tmp_path / ".partial" / "c%201" / "0123"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half")
    store = Store(str(tmp_path))
    store.begin("c 1")
    assert store.sweep("c 1", "builtin:5.3") == 1
    assert not left.exists()
    assert [path.name for path in part.iterdir()] == ["stateful-1-4.parquet"]
    assert store.spans("c 1", "builtin:5.3") == [Span("stateful", 1, 4)]


# --- outcomes -----------------------------------------------------------------------------------------------


def test_a_target_that_does_not_start_ends_the_chunk_and_says_why(tmp_path: Path) -> None:
    receipt = _played(tmp_path, 1, 50, "exec:/nowhere/at-all {port}")
    close_all()
    assert receipt.tally.runs == 5 and receipt.tally.outcomes == {"died": 5}
    assert "nowhere" in receipt.trouble


class _Odd:
    """Hangs, fails, and goes on: by its seeds."""

    generator = "odd"
    closed = 0

    def __init__(self, setting: Setting) -> None:
        self._sound = _STATEFUL(setting)

    def run(self, seed: int) -> Any:
        if seed == 2:
            threading.Event().wait(60)
        if seed == 3:
            raise KeyError("of ours")
        return self._sound.run(seed)

    def broken_off(self) -> Any:
        return self._sound.broken_off()

    def close(self) -> None:
        _Odd.closed += 1


_STATEFUL = KINDS["nameserver"]["stateful"]


def test_a_run_that_hangs_and_an_error_of_ours_are_outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close_all()
    monkeypatch.setitem(KINDS["nameserver"], "stateful", _Odd)
    monkeypatch.setattr("harness.mining.worker._PATIENCE", 0.1)
    receipt = _played(tmp_path, 1, 4)
    close_all()
    assert receipt.tally.outcomes == {"pass": 2, "timeout": 1, "error": 1}
    table = Store(str(tmp_path)).index("c 1", "builtin:5.3", ["seed", "outcome", "actual"])
    assert table is not None
    rows = table.to_pylist()
    assert [row["outcome"] for row in rows] == ["pass", "timeout", "error", "pass"]
    assert rows[2]["actual"] == "KeyError: 'of ours'"
    assert _Odd.closed == 3


# --- one campaign, one kind of runs -------------------------------------------------------------------------


def test_another_campaigns_settings_are_refused(tmp_path: Path) -> None:
    Campaign(_plan(tmp_path), now=lambda: 0.0)
    Campaign(_plan(tmp_path, runs=99), now=lambda: 0.0)
    with pytest.raises(MiningError, match=r"chunk: 10 there, 20 now") as refused:
        Campaign(_plan(tmp_path, chunk=20), now=lambda: 0.0)
    assert refused.value.status == 3


def test_another_generator_is_refused(tmp_path: Path) -> None:
    campaign = Campaign(_plan(tmp_path), now=lambda: 0.0)
    manifest = campaign.store.manifest("c 1")
    assert manifest is not None
    manifest.generators = dict.fromkeys(manifest.generators, "stateful-0")
    campaign.store.note(manifest)
    with pytest.raises(MiningError, match="two generators"):
        Campaign(_plan(tmp_path), now=lambda: 0.0)


def test_a_campaign_is_of_one_role_and_so_is_a_generator(tmp_path: Path) -> None:
    own = Campaign(_plan(tmp_path), now=lambda: 0.0)
    with pytest.raises(MiningError, match="role: nameserver there, broker now"):
        Campaign(_plan(tmp_path, role="broker"), now=lambda: 0.0)
    other = Campaign(_plan(tmp_path / "brokers", role="broker"), now=lambda: 0.0)
    assert own.store.roles("c 1") == {"nameserver"}
    assert other.store.roles("c 1") == {"broker"}
    generators = [generator_of(one.orders[0]) for one in (own, other)]
    assert len(set(generators)) == 2


def test_a_missing_root_is_a_usage_error() -> None:
    with pytest.raises(MiningError, match="file system that Arrow knows") as refused:
        Store("ftp://somewhere/else")
    assert refused.value.status == 3


def test_settings_and_orders_travel() -> None:
    order = _order(Path("x"), 1, 2)
    assert msgspec.json.decode(msgspec.json.encode(order), type=Order) == order
