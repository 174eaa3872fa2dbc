"""The schema is one description, and only grows."""

import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, TimestampType

from harness.catalogue import ROLES, Role
from harness.mining.schema import (
    ALPHABETS,
    COLUMNS,
    LETTERS,
    PARTITIONS,
    SCHEMA_VERSION,
    arrow_schema,
    spark_schema,
)

FIRST = [
    "schema_version",
    "run_id",
    "campaign",
    "target",
    "source",
    "kind",
    "version",
    "mutant",
    "profile",
    "seed",
    "attempt",
    "suite_version",
    "catalogue_digest",
    "clock",
    "generator",
    "started",
    "elapsed_us",
    "steps",
    "outcome",
    "statement",
    "invariant",
    "anomaly",
    "expected",
    "actual",
    "failing_step",
    "signature",
    "shrunk_ops",
    "shrunk_program",
    "confirmed_shown",
    "confirmed_tried",
    "quirk",
    "trace",
    "goals",
    "fp_initial",
    "ops",
    "rule",
    "args",
    "server",
    "conn",
    "broker",
    "cluster",
    "topic",
    "at_us",
    "latency_us",
    "request_code",
    "response_code",
    "answer",
    "bytes_out",
    "bytes_in",
    "fp",
    "statements",
    "fault",
]
"""The columns of version 1: whatever comes later stands behind them."""


def test_columns_are_added_at_the_end_only() -> None:
    assert [column.name for column in COLUMNS][: len(FIRST)] == FIRST
    assert all(column.since == 1 for column in COLUMNS[: len(FIRST)])
    assert max(column.since for column in COLUMNS) == SCHEMA_VERSION


@pytest.mark.parametrize("role", ROLES)
def test_letters_are_one_for_each_rule_and_need_no_escape(role: Role) -> None:
    letters = LETTERS[role]
    assert len(letters) == len(ALPHABETS[role])
    assert all(len(letter) == 1 and letter.isascii() and letter.isalnum() for letter in letters)


@pytest.mark.parametrize(
    ("role", "letters"),
    [
        ("nameserver", "aGYAWFifCjoDdXEkHlLgnOpVQRPSNbmBrysTtcuzUw"),
        ("broker", "JArkKzdFoCcDxeUfyHPXljLmSvgnNaOWGMpYQVtBRIsbhwqETui"),
    ],
)
def test_letters_that_were_stored_mean_what_they_meant(role: Role, letters: str) -> None:
    """In the order of the names of their rules."""
    alphabet = ALPHABETS[role]
    assert "".join(alphabet[rule] for rule in sorted(alphabet)) == letters


def test_arrow_has_every_column_but_those_of_the_path() -> None:
    names = arrow_schema().names
    assert set(names) == {column.name for column in COLUMNS} - set(PARTITIONS)
    of_steps = {column.name for column in COLUMNS if column.per_step}
    assert set(arrow_schema(steps=False).names) == set(names) - of_steps
    assert arrow_schema(partitions=True).names == [column.name for column in COLUMNS]


def test_no_type_is_one_that_spark_refuses_or_widens() -> None:
    def plain(type_: pa.DataType) -> pa.DataType:
        return plain(type_.value_type) if pa.types.is_list(type_) else type_

    types = {plain(field.type) for field in arrow_schema(partitions=True)}
    assert types == {pa.int32(), pa.int64(), pa.string(), pa.timestamp("us", tz="UTC")}


def test_spark_has_the_same_columns_and_types() -> None:
    spark = spark_schema()
    assert spark.names == arrow_schema(partitions=True).names
    assert spark["seed"].dataType == LongType()
    assert spark["started"].dataType == TimestampType()
    assert spark["server"].dataType == ArrayType(IntegerType())
    assert spark["statements"].dataType == ArrayType(ArrayType(StringType()))
    assert spark_schema(partitions=False).names == arrow_schema().names
