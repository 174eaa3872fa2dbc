"""Campaigns that never took place, with bugs that were planted: what mining must find, in any amount.

- One seed, one data set, to the byte; nothing is played, whole chunks are made at once.
- A bug shows where its pattern of rules is completed: each of its letters within `REACH` steps of the one
  before. The run ends there. What shows it last is a look, as in real runs.
- The same seed makes the same program for every target, as far as it is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.mining.schema import LETTERS as RULES
from harness.mining.schema import RUNS, SCHEMA_VERSION, arrow_schema

__all__ = ["BUGS", "LEAK", "TARGETS", "Bug", "chunk", "write"]

REACH = 4
LONGEST = 140
SHORTEST = 60
CHUNK = 1000

LETTERS = "RSUHVritgwapkdlXNcsuFQTL"
LOOKS = "Vritgkdlcsu"
WEIGHTS = np.array([1 / (2 + index % 12) for index in range(len(LETTERS))])


class Bug(NamedTuple):
    """What was planted."""

    name: str
    pattern: str
    statement: str
    targets: tuple[str, ...]
    chance: float = 1.0
    """That it shows where the pattern is completed."""
    also_fails: tuple[str, ...] = ()
    """What cases about its program break, where that is something else."""

    @property
    def explanation(self) -> str:
        """The statement that explains it."""
        return self.also_fails[0] if self.also_fails else self.statement


TARGETS = ("builtin:5.3", "apache:4.9.8?warp=60", "apache:5.3.3?warp=60", "exec:./my-ns --port {port}")

BUGS = (
    Bug("takes-over", "RSUr", "ns.registration.id-taken-over", TARGETS[1:2]),
    Bug("keeps-topics", "RLUt", "ns.lease.expired-broker-leaves", TARGETS[1:3]),
    Bug("lost-wipe", "wRwr", "ns.write_permission.stays-wiped", TARGETS[3:]),
    Bug("kv-deleted", "pdpk", "ns.kv.put-is-read-back", TARGETS[3:]),
    Bug("kv-list", "ppdl", "ns.kv.list-has-all", TARGETS[3:]),
    Bug("order", "XNXc", "ns.topics.deleted-topic-is-gone", TARGETS[1:2]),
    Bug("close", "FQFi", "ns.lease.expired-broker-leaves", TARGETS[3:]),
    Bug("heartbeat", "HLHV", "ns.data_version.stored-version", TARGETS[2:3]),
    Bug("kv-rare", "aadk", "ns.kv.put-is-read-back", TARGETS[3:], 0.5, ("ns.kv.delete-removes",)),
)

_MUTATORS = np.array([letter in "RSUwapdXNFQTL" for letter in LETTERS])
_RULES = RULES["nameserver"]
_NAMES = pa.array([_RULES[letter] for letter in LETTERS])
_ARGS = pa.array(
    [
        f'{{"broker":"b{one % 7}","do":"{_RULES[LETTERS[one % 24]]}","topic":"t{one % 11}"}}'
        for one in range(480)
    ]
)
_JUDGED = [
    [f"ns.{_RULES[letter]}.is-answered", f"ns.{_RULES[letter]}.law-{n % 3}"]
    for n, letter in enumerate(LETTERS)
]
for _bug in BUGS:
    _judging = _JUDGED[LETTERS.index(_bug.pattern[-1])]
    if _bug.statement not in _judging:
        _judging.append(_bug.statement)
LEAK = 0.4
"""Microseconds a step by which one rule of one target gets slower."""


def chunk(
    target: str, first: int, runs: int, *, seed: int, campaign: str, bugs: tuple[Bug, ...] = BUGS
) -> pa.Table:
    """So many runs of a target, of the seeds from ``first``."""
    programs = np.random.default_rng([seed, first])
    steps = programs.integers(SHORTEST, LONGEST + 1, runs)
    share = WEIGHTS / WEIGHTS.sum()
    ops = programs.choice(len(LETTERS), (runs, LONGEST), p=share).astype(np.int8)
    luck = programs.random((runs, len(BUGS)))
    number = TARGETS.index(target)
    noise = np.random.default_rng([seed, first, number])

    failing, bug_of = _failures(target, ops, steps, luck, bugs)
    fails = bug_of >= 0
    unlucky = ~fails & (noise.random(runs) < 0.0005)
    steps = np.where(fails, failing + 1, steps)
    inside = np.arange(LONGEST) < steps[:, None]
    offsets = pa.array(np.concatenate([[0], np.cumsum(steps)]).astype(np.int32))
    flat = ops[inside]
    total = len(flat)
    position = np.broadcast_to(np.arange(LONGEST), ops.shape)[inside]

    base = 40 + 12 * (flat.astype(np.float64) + 3 * number)
    latency = base * np.exp(noise.normal(0, 0.35, total))
    if number == 3:
        latency += np.where(flat == LETTERS.index("r"), LEAK * position, 0)
    codes = np.where(noise.random(total) < 0.02, 1, 0)
    states = _states(ops)[inside]
    if number == 1:  # one rule is answered with another code where the state is such
        codes = np.where((flat == LETTERS.index("g")) & (states % 97 == 0), 17, 0)
    elif number != 3:
        codes = np.zeros(total, int)
    faults = pa.array(np.where(position % 50 == 7, "reset", None).tolist(), pa.string())

    def listed(values: object) -> pa.Array:
        array = values if isinstance(values, pa.Array) else pa.array(values)
        return pa.ListArray.from_arrays(offsets, array)

    text = np.array(list(LETTERS))[ops]
    lines = ["".join(text[row, : steps[row]]) for row in range(runs)]
    chosen = [bugs[bug] if bug >= 0 else None for bug in bug_of]
    extra = noise.random(runs) < 0.2
    shrunk = [
        None if bug is None else (lines[row][0] if extra[row] else "") + bug.pattern
        for row, bug in enumerate(chosen)
    ]
    judged = pa.array(_JUDGED).take(pa.array(flat.astype(np.int32)))
    arguments = _ARGS.take(pa.array(noise.integers(0, len(_ARGS), total)))
    symbols = pa.array([f"b{one}" for one in range(7)]).take(pa.array(noise.integers(0, 7, total)))
    seeds = np.arange(first, first + runs)
    outcomes = np.where(fails, "fail", np.where(unlucky, "flaky", "pass"))
    statements = [None if bug is None else bug.statement for bug in chosen]
    nothing = pa.nulls(runs, pa.string())
    columns: dict[str, object] = {
        "schema_version": np.full(runs, SCHEMA_VERSION),
        "run_id": [f"{campaign}-{number}-{one}" for one in seeds],
        "source": ["campaign"] * runs,
        "kind": ["stateful"] * runs,
        "version": [target.partition("?")[0].rpartition(":")[2]] * runs,
        "profile": ["5.3"] * runs,
        "seed": seeds,
        "attempt": np.zeros(runs),
        "suite_version": ["0.1.0"] * runs,
        "catalogue_digest": ["d"] * runs,
        "clock": ["virtual"] * runs,
        "generator": ["planted-1"] * runs,
        "started": 1_700_000_000_000_000 + seeds * 1000,
        "elapsed_us": np.add.reduceat(latency, np.asarray(offsets)[:-1]).astype(np.int64),
        "steps": steps,
        "outcome": outcomes,
        "statement": statements,
        "invariant": [None if bug is None else "planted" for bug in chosen],
        "failing_step": [int(failing[row]) if fails[row] else None for row in range(runs)],
        "signature": [None if bug is None else f"{bug.statement}|planted||look" for bug in chosen],
        "shrunk_ops": shrunk,
        "shrunk_program": [
            None if one is None else "\n".join(f'{{"do":"{c}"}}' for c in one) for one in shrunk
        ],
        "also_fails": [None if bug is None else [bug.explanation] for bug in chosen],
        "confirmed_shown": [3 if one else None for one in fails],
        "confirmed_tried": [3 if one else None for one in fails],
        "goals": pa.array([["lease-ends", "id-taken-over"][: 1 + int(one % 3 == 0)] for one in seeds]),
        "fp_initial": np.zeros(runs),
        "ops": lines,
        "rule": listed(_NAMES.take(pa.array(flat.astype(np.int32)))),
        "args": listed(arguments),
        "server": listed(np.zeros(total, np.int32)),
        "conn": listed(symbols),
        "broker": listed(symbols),
        "cluster": listed(pa.nulls(total, pa.string())),
        "topic": listed(pa.nulls(total, pa.string())),
        "at_us": listed(position * 1000),
        "latency_us": listed(latency.astype(np.int64)),
        "request_code": listed((100 + flat).astype(np.int32)),
        "response_code": listed(codes.astype(np.int32)),
        "answer": listed(pa.array(["answered"]).take(pa.array(np.zeros(total, np.int32)))),
        "bytes_out": listed((60 + 2 * flat).astype(np.int32)),
        "bytes_in": listed((90 + flat).astype(np.int32)),
        "fp": listed(states),
        "statements": listed(judged),
        "fault": listed(faults),
    }
    schema = arrow_schema()
    return pa.table(
        [
            (one if isinstance(one, pa.Array) else pa.array(one)).cast(field.type)
            for field in schema
            for one in [columns.get(field.name, nothing)]
        ],
        schema=schema,
    )


def _failures(
    target: str, ops: np.ndarray, steps: np.ndarray, luck: np.ndarray, bugs: tuple[Bug, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Of each run the step at which the first bug shows, and the number of the bug; -1 where none does."""
    runs = len(ops)
    failing, bug_of = np.full(runs, LONGEST), np.full(runs, -1)
    for number, bug in enumerate(bugs):
        if target not in bug.targets:
            continue
        letters = [LETTERS.index(letter) for letter in bug.pattern]
        last = [np.full(runs, -99) for _ in letters]
        shows = np.full(runs, LONGEST)
        for step in range(LONGEST):
            for depth in range(len(letters) - 1, -1, -1):
                here = ops[:, step] == letters[depth]
                if depth:
                    here &= step - last[depth - 1] <= REACH
                last[depth][here] = step
            shows = np.minimum(shows, np.where(last[-1] == step, step, LONGEST))
        first = (shows < steps) & (shows < failing) & (luck[:, number] < bug.chance)
        failing[first], bug_of[first] = shows[first], number
    return failing, bug_of


def _states(ops: np.ndarray) -> np.ndarray:
    """Fingerprints: of the last five steps that change something."""
    state = np.zeros(len(ops), np.int64)
    states = np.empty(ops.shape, np.int64)
    for step in range(ops.shape[1]):
        changes = _MUTATORS[ops[:, step]]
        state = np.where(changes, (state * 24 + ops[:, step] + 1) % 24**5, state)
        states[:, step] = state
    with np.errstate(over="ignore"):
        return (states * np.int64(-7046029254386353131)) ^ (states << 17)


def chunks(
    seed: int, runs: int, *, campaign: str, bugs: tuple[Bug, ...]
) -> Iterator[tuple[str, int, pa.Table]]:
    """Target, first seed, rows: ``runs`` of each target."""
    for target in TARGETS:
        for first in range(1, runs + 1, CHUNK):
            size = min(CHUNK, runs + 1 - first)
            yield target, first, chunk(target, first, size, seed=seed, campaign=campaign, bugs=bugs)


def write(
    root: Path, runs: int, *, seed: int = 1, campaign: str = "planted", bugs: tuple[Bug, ...] = BUGS
) -> tuple[int, int]:
    """Writes ``runs`` of each target below a root; so many runs and steps were written."""
    steps = 0
    for target, first, table in chunks(seed, runs, campaign=campaign, bugs=bugs):
        folder = root / RUNS / f"campaign={quote(campaign, safe='')}" / f"target={quote(target, safe='')}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / f"{first:09d}.parquet", compression="zstd", compression_level=3)
        steps += sum(table["steps"].to_pylist())
    return runs * len(TARGETS), steps
