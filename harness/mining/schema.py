"""The one description of a run as a row: columns, types, order, and the alphabet of its rules.

Invariants:
- It only grows: a column or a rule is added at the end, never renamed, retyped or removed, and
  `SCHEMA_VERSION` counts such additions. A reader gives its own schema explicitly, and so reads older rows:
  missing columns are null.
- Arrow's schemas and Spark's are made of `COLUMNS` and of nothing else; letters are those of the steps.
- One row is one run. Its columns of steps are arrays, all of ``steps`` elements.
- The path of a file gives `campaign` and `target`, which are no columns in it:
  ``runs/campaign=C/target=T/CHUNK.parquet``, both percent-encoded. ``index/`` is the same tree with the
  columns of the run alone. Readers must not infer types from paths (5.3 and 5.30 are two targets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
import pyarrow as pa

from harness.catalogue import ROLES, Role
from harness.program.broker.steps import BesideRequests, BrokerRequest
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SCHEMA_VERSION: Final = 3
"""Of every row. A row with a greater one is from a newer harness."""

RUNS: Final = "runs"
"""The folder of whole rows, below the root of a data set."""
INDEX: Final = "index"
"""The folder of the same rows without their steps."""

Outcome = Literal["pass", "fail", "quirk", "flaky", "timeout", "died", "error"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("pass", "fail", "quirk", "flaky", "timeout", "died", "error")
"""Of a run: no violation; a violation; one that a named quirk of the target explains; one that did not show
again often enough; it did not come to its end in time, or this machine was too slow for the clock, and
nothing seen counts; the target took no connection any more; an error of the harness."""

_INT: Final = pa.int32()
_LONG: Final = pa.int64()
_TEXT: Final = pa.string()
_TIME: Final = pa.timestamp("us", tz="UTC")


class Column(msgspec.Struct, frozen=True):
    """A column. `in_path`: the path gives it. `per_step`: an array with an element for each step."""

    name: str
    type: pa.DataType
    about: str
    null: bool = False
    """Whether it, or an element of it where it is of steps, may be null."""
    in_path: bool = False
    per_step: bool = False
    since: int = 1
    """`SCHEMA_VERSION` with which it came."""


def _step(name: str, type_: pa.DataType, about: str, null: bool = False) -> Column:
    return Column(name, pa.list_(type_), about, null, per_step=True)


COLUMNS: Final[tuple[Column, ...]] = (
    # --- which run
    Column("schema_version", _INT, "`SCHEMA_VERSION` of the writer"),
    Column("run_id", _TEXT, "unique, and equal whenever the same run is made again"),
    Column("campaign", _TEXT, "name of the campaign, or of the recorded run that was read", in_path=True),
    Column("target", _TEXT, "URI of the target", in_path=True),
    Column("source", _TEXT, "campaign, check, fuzz or diff: which command made it"),
    Column("kind", _TEXT, "stateful, frames, history, controller or pair; case for check; diff for diff"),
    Column("version", _TEXT, "what the target is: 5.3.3, builtin 5.3, or its description"),
    Column("mutant", _TEXT, "name of the mutant, where the target is one", null=True),
    Column("profile", _TEXT, "profile that it was judged by"),
    Column("seed", _LONG, "decides the program, together with generator and profile"),
    Column("attempt", _INT, "0 for the first run of a seed; recorded runs of one seed are counted up"),
    Column("suite_version", _TEXT, "version of the harness"),
    Column("catalogue_digest", _TEXT, "digest of the catalogue's statements"),
    Column("clock", _TEXT, "virtual, warped or real"),
    Column("generator", _TEXT, "kind and revision of what made the program: runs of one are one population"),
    Column("started", _TIME, "when the run began, by the clock of the machine that made it"),
    Column("elapsed_us", _LONG, "real microseconds that it took"),
    # --- what came of it
    Column("steps", _INT, "steps that were begun: the length of every array of steps"),
    Column("outcome", _TEXT, "one of `OUTCOMES`"),
    Column("statement", _TEXT, "id of the decisive statement; of fail, flaky, died and quirk", null=True),
    Column("invariant", _TEXT, "the invariant that was broken, or the case that failed", null=True),
    Column("anomaly", _TEXT, "its name where it is of a named kind", null=True),
    Column("expected", _TEXT, "what is allowed", null=True),
    Column("actual", _TEXT, "what was seen; of timeout, died and error, what happened", null=True),
    Column("failing_step", _INT, "index of the step, from 0, whose outcome shows it", null=True),
    Column(
        "signature",
        _TEXT,
        "statement|invariant|anomaly|kind of step: what fails alike",
        null=True,
    ),
    Column("shrunk_ops", _TEXT, "letters of the shrunk program; null where it was not shrunk", null=True),
    Column("shrunk_program", _TEXT, "its steps, one a line of JSON", null=True),
    Column("confirmed_shown", _INT, "fresh attempts that showed it again …", null=True),
    Column("confirmed_tried", _INT, "… of this number; null if it was not repeated", null=True),
    Column("quirk", _TEXT, "the named quirk, of outcome quirk", null=True),
    Column(
        "trace", _TEXT, "path of the trace below the root; failing runs have one, few others do", null=True
    ),
    Column("goals", pa.list_(_TEXT), "ids of the goals that the program reached, sorted"),
    Column("fp_initial", _LONG, "fingerprint of the state before the first step"),
    Column("ops", _TEXT, "one letter for each step, by `ALPHABETS`"),
    # --- its steps
    _step("rule", _TEXT, "what was done: a key of `ALPHABETS`, by role"),
    _step("args", _TEXT, "the whole step as canonical JSON, for replay"),
    _step("server", _INT, "which of several servers, from 0"),
    _step("conn", _TEXT, "symbol of the connection; empty where it needs none"),
    _step("broker", _TEXT, "symbol of the broker name", null=True),
    _step("cluster", _TEXT, "symbol of the cluster", null=True),
    _step("topic", _TEXT, "symbol of the topic; of several, the first", null=True),
    _step("at_us", _LONG, "protocol microseconds from the beginning of the run to that of the step"),
    _step(
        "latency_us",
        _LONG,
        "real microseconds from the first byte sent to the answer",
        null=True,
    ),
    _step("request_code", _INT, "null where the step is no request", null=True),
    _step("response_code", _INT, "of the first answer; null where there was none", null=True),
    _step("answer", _TEXT, "answered, closed, garbled, silent (surely none) or none (not known)"),
    _step("bytes_out", _INT, "bytes of the frames that the step sent"),
    _step("bytes_in", _INT, "bytes of the answer"),
    _step("fp", _LONG, "fingerprint of the state after the step: what the program should have made of it"),
    _step("statements", pa.list_(_TEXT), "ids that the answer was held against, sorted"),
    _step("fault", _TEXT, "kinds of fault in the step, sorted and joined by +; null where none", null=True),
    # --- what came of it, too
    Column(
        "also_fails",
        pa.list_(_TEXT),
        "statements that cases about its requests break too, the most telling first; null where none was run",
        null=True,
        since=2,
    ),
    # --- which run, too
    Column(
        "role", _TEXT, "what the target is: `nameserver` or `broker`; null: `nameserver`", null=True, since=3
    ),
)
"""In the order of the files. Fingerprints are digests of what the program has made of the servers, by
symbols: equal states of different runs and targets have equal ones."""

PARTITIONS: Final = tuple(column.name for column in COLUMNS if column.in_path)

_OF_BROKERS = (BrokerRequest, BesideRequests)
_OF_ALL = (Close, Reconnect, Restart, Time)


def _alphabet(role: Role) -> dict[str, str]:
    kinds = (
        kind
        for kind in AnyStep.__args__
        if kind in _OF_ALL or issubclass(kind, _OF_BROKERS) is (role == "broker")
    )
    return {
        rule: letter
        for kind in kinds
        for rule, letter in zip(kind.rules or (kind.__struct_config__.tag,), kind.letters, strict=True)
    } | {"other": "O"}


ALPHABETS: Final[dict[Role, dict[str, str]]] = {role: _alphabet(role) for role in ROLES}
"""By role: its rules and their letters: letters and digits alone, so that `ops` can be searched by regular
expressions. ``other`` are bytes of a recorded run that are no request that is known.
"""

LETTERS: Final = {
    role: {letter: rule for rule, letter in alphabet.items()} for role, alphabet in ALPHABETS.items()
}
"""By role, the other way round."""


def arrow_schema(*, steps: bool = True, partitions: bool = False) -> pa.Schema:
    """Arrow's schema: as a file is (the default), without the columns of steps, with those of the path."""
    return pa.schema(
        [
            pa.field(one.name, one.type)
            for one in COLUMNS
            if (steps or not one.per_step) and (partitions or not one.in_path)
        ]
    )


def spark_schema(*, partitions: bool = True) -> StructType:
    """Spark's schema of the same columns, by default with those of the path."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow_schema(partitions=partitions))
