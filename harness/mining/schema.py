"""The one description of a run as a row: columns, types, order, and the alphabet of its rules.

Invariants:
- It only grows: a column or a rule is added at the end, never renamed, retyped or removed, and
  `SCHEMA_VERSION` counts such additions. A reader gives its own schema explicitly, and so reads older rows:
  missing columns are null.
- Arrow's schemas and Spark's are made of `COLUMNS` and of nothing else.
- One row is one run. Its columns of steps are arrays, all of ``steps`` elements.
- The path of a file gives `campaign` and `target`, which are no columns in it:
  ``runs/campaign=C/target=T/CHUNK.parquet``, both percent-encoded. ``index/`` is the same tree with the
  columns of the run alone. Readers must not infer types from paths (5.3 and 5.30 are two targets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SCHEMA_VERSION: Final = 2
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

Kind = Literal["int", "long", "text", "time", "texts", "ints", "longs", "texts of texts"]
"""int32, int64, UTF-8, microseconds UTC; the plurals are lists."""


class Column(msgspec.Struct, frozen=True):
    """A column. `in_path`: the path gives it. `per_step`: an array with an element for each step."""

    name: str
    kind: Kind
    about: str
    null: bool = False
    """Whether it, or an element of it where it is of steps, may be null."""
    in_path: bool = False
    per_step: bool = False
    since: int = 1
    """`SCHEMA_VERSION` with which it came."""


def _step(name: str, kind: Kind, about: str, null: bool = False) -> Column:
    return Column(name, kind, about, null, per_step=True)


COLUMNS: Final[tuple[Column, ...]] = (
    # --- which run
    Column("schema_version", "int", "`SCHEMA_VERSION` of the writer"),
    Column("run_id", "text", "unique, and equal whenever the same run is made again"),
    Column("campaign", "text", "name of the campaign, or of the recorded run that was read", in_path=True),
    Column("target", "text", "URI of the target", in_path=True),
    Column("source", "text", "campaign, check, fuzz or diff: which command made it"),
    Column("kind", "text", "stateful, frames or history; case for check; diff for diff"),
    Column("version", "text", "what the target is: 5.3.3, builtin 5.3, or its description"),
    Column("mutant", "text", "name of the mutant, where the target is one", null=True),
    Column("profile", "text", "profile that it was judged by"),
    Column("seed", "long", "decides the program, together with generator and profile"),
    Column("attempt", "int", "0 for the first run of a seed; recorded runs of one seed are counted up"),
    Column("suite_version", "text", "version of the harness"),
    Column("catalogue_digest", "text", "digest of the catalogue's statements"),
    Column("clock", "text", "virtual, warped or real"),
    Column("generator", "text", "kind and revision of what made the program: runs of one are one population"),
    Column("started", "time", "when the run began, by the clock of the machine that made it"),
    Column("elapsed_us", "long", "real microseconds that it took"),
    # --- what came of it
    Column("steps", "int", "steps that were begun: the length of every array of steps"),
    Column("outcome", "text", "one of `OUTCOMES`"),
    Column("statement", "text", "id of the decisive statement; of fail, flaky, died and quirk", null=True),
    Column("invariant", "text", "the invariant that was broken, or the case that failed", null=True),
    Column("anomaly", "text", "its name where it is of a named kind", null=True),
    Column("expected", "text", "what is allowed", null=True),
    Column("actual", "text", "what was seen; of timeout, died and error, what happened", null=True),
    Column("failing_step", "int", "index of the step, from 0, whose outcome shows it", null=True),
    Column(
        "signature",
        "text",
        "statement|invariant|anomaly|kind of step: what fails alike",
        null=True,
    ),
    Column("shrunk_ops", "text", "letters of the shrunk program; null where it was not shrunk", null=True),
    Column("shrunk_program", "text", "its steps, one a line of JSON", null=True),
    Column("confirmed_shown", "int", "fresh attempts that showed it again …", null=True),
    Column("confirmed_tried", "int", "… of this number; null if it was not repeated", null=True),
    Column("quirk", "text", "the named quirk, of outcome quirk", null=True),
    Column(
        "trace", "text", "path of the trace below the root; failing runs have one, few others do", null=True
    ),
    Column("goals", "texts", "ids of the goals that the program reached, sorted"),
    Column("fp_initial", "long", "fingerprint of the state before the first step"),
    Column("ops", "text", "one letter for each step, by `ALPHABET`"),
    # --- its steps
    _step("rule", "texts", "what was done: a key of `ALPHABET`"),
    _step("args", "texts", "the whole step as canonical JSON, for replay"),
    _step("server", "ints", "which of several NameServers, from 0"),
    _step("conn", "texts", "symbol of the connection; empty where it needs none"),
    _step("broker", "texts", "symbol of the broker name", null=True),
    _step("cluster", "texts", "symbol of the cluster", null=True),
    _step("topic", "texts", "symbol of the topic; of several, the first", null=True),
    _step("at_us", "longs", "protocol microseconds from the beginning of the run to that of the step"),
    _step(
        "latency_us",
        "longs",
        "real microseconds from the first byte sent to the answer",
        null=True,
    ),
    _step("request_code", "ints", "null where the step is no request", null=True),
    _step("response_code", "ints", "of the first answer; null where there was none", null=True),
    _step("answer", "texts", "answered, closed, garbled, silent (surely none) or none (not known)"),
    _step("bytes_out", "ints", "bytes of the frames that the step sent"),
    _step("bytes_in", "ints", "bytes of the answer"),
    _step("fp", "longs", "fingerprint of the state after the step: what the program should have made of it"),
    _step("statements", "texts of texts", "ids that the answer was held against, sorted"),
    _step("fault", "texts", "kinds of fault in the step, sorted and joined by +; null where none", null=True),
    # --- what came of it, too
    Column(
        "also_fails",
        "texts",
        "statements that cases about its requests break too, the most telling first; null where none was run",
        null=True,
        since=2,
    ),
)
"""In the order of the files. Fingerprints are digests of what the program has made of the servers, by
symbols: equal states of different runs and targets have equal ones."""

PARTITIONS: Final = tuple(column.name for column in COLUMNS if column.in_path)
STEP_COLUMNS: Final = tuple(column.name for column in COLUMNS if column.per_step)

ALPHABET: Final[dict[str, str]] = {
    "register": "R",
    "register-slave": "S",
    "unregister": "U",
    "heartbeat": "H",
    "query-version": "V",
    "route": "r",
    "cluster-info": "i",
    "topics": "t",
    "member-group": "g",
    "wipe-permission": "w",
    "add-permission": "a",
    "put-kv": "p",
    "get-kv": "k",
    "delete-kv": "d",
    "list-kv": "l",
    "delete-topic": "X",
    "register-topic": "N",
    "topics-of-cluster": "c",
    "system-topics": "s",
    "unit": "u",
    "configure": "C",
    "configuration": "f",
    "unknown": "z",
    "damaged": "D",
    "close": "F",
    "reconnect": "Q",
    "restart": "B",
    "time": "T",
    "long-time": "L",
    "other": "O",
}
"""Rules and their letters: letters and digits alone, so that `ops` can be searched by regular expressions.
``register-slave`` is a registration with an id other than 0, ``long-time`` more than 60 protocol seconds,
``other`` bytes of a recorded run that are no request that is known."""

LETTERS: Final = {letter: rule for rule, letter in ALPHABET.items()}

_ARROW: Final[dict[Kind, pa.DataType]] = {
    "int": pa.int32(),
    "long": pa.int64(),
    "text": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "ints": pa.list_(pa.int32()),
    "longs": pa.list_(pa.int64()),
    "texts": pa.list_(pa.string()),
    "texts of texts": pa.list_(pa.list_(pa.string())),
}
_SPARK: Final[dict[Kind, str]] = {
    "int": "INT",
    "long": "BIGINT",
    "text": "STRING",
    "time": "TIMESTAMP",
    "ints": "ARRAY<INT>",
    "longs": "ARRAY<BIGINT>",
    "texts": "ARRAY<STRING>",
    "texts of texts": "ARRAY<ARRAY<STRING>>",
}


def _chosen(*, steps: bool, partitions: bool) -> list[Column]:
    return [one for one in COLUMNS if (steps or not one.per_step) and (partitions or not one.in_path)]


def arrow_schema(*, steps: bool = True, partitions: bool = False) -> pa.Schema:
    """Arrow's schema: as a file is (the default), without the columns of steps, with those of the path."""
    chosen = _chosen(steps=steps, partitions=partitions)
    return pa.schema([pa.field(one.name, _ARROW[one.kind]) for one in chosen])


def spark_ddl(*, steps: bool = True, partitions: bool = True) -> str:
    """Spark's schema as DDL, which ``spark.read.schema`` takes; by default with the columns of the path."""
    chosen = _chosen(steps=steps, partitions=partitions)
    return ", ".join(f"{one.name} {_SPARK[one.kind]}" for one in chosen)


def spark_schema(*, steps: bool = True, partitions: bool = True) -> StructType:
    """Spark's schema, made of the same columns as `spark_ddl`. Needs no session."""
    from pyspark.sql import types

    plain: dict[str, types.DataType] = {
        "INT": types.IntegerType(),
        "BIGINT": types.LongType(),
        "STRING": types.StringType(),
        "TIMESTAMP": types.TimestampType(),
    }

    def typed(said: str) -> types.DataType:
        if said.startswith("ARRAY<"):
            return types.ArrayType(typed(said[6:-1]))
        return plain[said]

    chosen = _chosen(steps=steps, partitions=partitions)
    return types.StructType([types.StructField(one.name, typed(_SPARK[one.kind])) for one in chosen])
