"""Reads a directory of records; damaged files do not spoil the rest.

Invariants:
- Files are checked one by one before anything is counted: briefly at first; if reading fails later, each
  column of each file. An unreadable file is a `Trouble` and left out; nothing else is.
- What is read is of one role: rows of NameServers and of Brokers have letters of their own, and no rate,
  state or program in common. A file of runs is of one role.
- The schema is given, never inferred. A file is ours if each of its rows has a schema version, and is read if
  that is no newer than ours.
- Only DataFrames are used: any file system that Spark knows will do, Spark Connect included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from harness.catalogue import ROLES, Role
from harness.mining.errors import MiningError
from harness.mining.schema import PARTITIONS, RUNS, SCHEMA_VERSION, spark_schema
from harness.report.text import plural

Kind = Literal["truncated", "foreign", "newer", "unreadable", "empty"]

_MAGIC = b"PAR1"
_EXPECTED = "expected the runs of a campaign, as its --out has them"
_NONE = f"{_EXPECTED}; this directory has no Parquet file"
_NOWHERE = f"{_EXPECTED}; there is no such directory"
_RETRIES = ("ignoreCorruptFiles", "true")


class Trouble(msgspec.Struct, frozen=True, order=True):
    """Something that could not be read, or a directory without runs."""

    path: str
    kind: Kind
    message: str


class Records(msgspec.Struct, frozen=True):
    """What can be read; None where that is nothing."""

    runs: DataFrame | None
    troubles: tuple[Trouble, ...]
    role: Role = ROLES[0]
    """What the targets of the runs are."""


class _Seen(msgspec.Struct, frozen=True):
    rows: int
    versions: int
    """Rows that tell a schema version."""
    newest: int | None
    roles: frozenset[Role]


def read(spark: SparkSession, root: str, role: Role | None = None, *, deep: bool = False) -> Records:
    """The runs of a role below a root (a path, or a URL of a file system that Spark knows). ``deep`` reads
    each column of each file in order to find those that are damaged inside.

    ``role`` None: that of all runs. Raises ``MiningError`` where there are runs of several.
    """
    folder = f"{root.rstrip('/')}/{RUNS}"
    try:
        listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(folder)
        # Without a job: files are listed when a folder is opened. Elsewhere Spark writes file:/ for file:///.
        urls = [re.sub("^file:///", "file:/", url) for url in listed.inputFiles()]
        files = sorted((unquote(url), url) for url in urls if url.endswith(".parquet"))
    except AnalysisException as problem:
        first = str(problem).splitlines()[0]
        why = _NOWHERE if "PATH_NOT_FOUND" in str(problem) else f"{_EXPECTED}: {first}"
        return Records(None, (Trouble(folder, "empty", why),))
    seen = _look(spark, folder, deep=False) if files else {}
    whole = _look(spark, folder, deep=True) if files and deep else seen
    closed = _closed(spark, [path for path, url in files if url not in seen])
    troubles = [
        trouble
        for path, url in files
        for trouble in [closed.get(path) or _trouble(path, seen[url], whole.get(url))]
        if trouble is not None
    ]
    bad = {trouble.path for trouble in troubles}
    roles = {path: next(iter(seen[url].roles)) for path, url in files if _plain(path) not in bad}
    if not roles:
        message = "none of its files can be mined" if files else _NONE
        return Records(None, (*troubles, Trouble(folder, "empty", message)))
    role = role or _only(root, roles.values())
    good = [path for path, of in roles.items() if of == role]
    if not good:
        message = f"its runs are of role {roles.popitem()[1]}, and none of role {role}"
        return Records(None, (*troubles, Trouble(folder, "empty", message)), role)
    reader = spark.read.schema(spark_schema()).option("basePath", folder)
    runs = reader.parquet(*([folder] if len(good) == len(files) else map(_escaped, good)))
    return Records(runs.withColumn("role", _role()), tuple(troubles), role)


def _role() -> Column:
    """Of a run; older ones, which do not say it, are of NameServers."""
    return F.coalesce("role", F.lit(ROLES[0]))


def _only(root: str, roles: Iterable[Role]) -> Role:
    files = Counter(roles)
    if len(files) > 1:
        there = " and ".join(f"{one} ({plural(files[one], 'file')})" for one in ROLES)
        raise MiningError(
            f"{root}: expected runs of one role, got {there}: their statements, steps and states have "
            f"nothing in common; say {' or '.join(f'--role {one}' for one in ROLES)}",
            status=3,
        )
    return next(iter(files))


def _plain(path: str) -> str:
    """As people write it."""
    return path.removeprefix("file:")


def nothing_in(root: str) -> Trouble | None:
    """Why a directory of this machine has nothing to mine, without Spark; None where there may
    be something, or where only Spark can see.
    """
    folder = Path(root) / RUNS
    if "://" in root or next(folder.rglob("*.parquet"), None) is not None:
        return None
    return Trouble(str(folder), "empty", _NONE if folder.is_dir() else _NOWHERE)


def _look(spark: SparkSession, folder: str, *, deep: bool) -> dict[str, _Seen]:
    """What is in each file that can be opened, by its URL; with ``deep``, that can be read to its end."""
    columns = (
        spark_schema(partitions=False)
        if deep
        else "schema_version INT, run_id STRING, steps INT, role STRING"
    )
    frame = spark.read.schema(columns).option("recursiveFileLookup", "true").option(*_RETRIES).parquet(folder)
    digest = F.max(F.xxhash64(*(frame.columns if deep else ["schema_version"])))
    rows = (
        frame.groupBy(F.col("_metadata.file_path").alias("path"))
        .agg(
            F.count("*").alias("rows"),
            F.count("schema_version").alias("versions"),
            F.max("schema_version").alias("newest"),
            F.collect_set(_role()).alias("roles"),
            digest.alias("digest"),
        )
        .collect()
    )
    return {
        row["path"]: _Seen(row["rows"], row["versions"], row["newest"], frozenset(row["roles"]))
        for row in rows
    }


def _trouble(path: str, seen: _Seen, whole: _Seen | None) -> Trouble | None:
    plain = _plain(path)
    if seen.versions < seen.rows or any(f"/{name}=" not in plain for name in PARTITIONS):
        return Trouble(plain, "foreign", "Parquet, but no runs: no schema version, or not its place")
    if seen.newest is not None and seen.newest > SCHEMA_VERSION:
        text = f"its schema is {seen.newest}, ours {SCHEMA_VERSION}: a newer rmq-harness reads it"
        return Trouble(plain, "newer", text)
    if len(seen.roles) > 1:
        return Trouble(
            plain, "foreign", f"runs of several roles in one file: {', '.join(sorted(seen.roles))}"
        )
    if whole is None or whole.rows < seen.rows:
        return Trouble(plain, "unreadable", "it is damaged inside: a column cannot be read to its end")
    return None


def _closed(spark: SparkSession, paths: Sequence[str]) -> dict[str, Trouble]:
    """Why nothing was read from files, by their paths."""
    if not paths:
        return {}
    content = spark.read.format("binaryFile").load([_escaped(path) for path in paths])
    size = len(_MAGIC)
    ends = content.select(
        "path",
        F.substring("content", 1, size).alias("head"),
        F.substring("content", -size, size).alias("tail"),
    )
    return {row["path"]: _closed_by(_plain(row["path"]), row["head"], row["tail"]) for row in ends.collect()}


def _closed_by(path: str, head: bytes, tail: bytes) -> Trouble:
    if head != _MAGIC:
        return Trouble(path, "foreign", f"no Parquet: expected {_MAGIC.decode()} at its beginning")
    if tail != _MAGIC:
        return Trouble(path, "truncated", "it has no end: was its writing, or a copy of it, interrupted?")
    return Trouble(path, "unreadable", "Parquet without rows that can be read by the schema of a campaign")


def _escaped(path: str) -> str:
    """So that braces in a name are no pattern."""
    return "".join(f"\\{one}" if one in "{}[]*?" else one for one in path)
