"""The store of campaigns: chunks of runs as files that are complete or absent.

Layout below the root, which is a path or a URL of a file system that Arrow knows (``file:``, ``hdfs:``,
``s3:``, ``gs:``, ``abfs:``; ``s3a:`` is taken for ``s3:``)::

    runs/campaign=C/target=T/KIND-FIRST-LAST.parquet    whole rows, seeds FIRST to LAST
    index/campaign=C/target=T/KIND-FIRST-LAST.parquet   the same without their steps
    traces/campaign=C/target=T/KIND-FIRST-LAST.zip      KIND-SEED.trace of failing runs, and of a few others
    manifest/C/campaign.json                            what the campaign is: its settings, what it came to
    .partial/C/                                         what is being written; swept when the campaign begins
    .partial/C/tallies/                                 what each chunk of this command has come to so far

Invariants:
- A chunk is there when its file below ``runs`` is, which is moved into its place last. What else belongs to
  it is written before, and replaced when the chunk is made again.
- The name of a chunk says which seeds are in it; listing names shows what is missing, and two writers of one
  chunk write the same name.
- A campaign is of one manifest. It never mixes runs of different settings.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from harness.catalogue import Role
from harness.mining.errors import MiningError
from harness.mining.place import opened
from harness.mining.records import Row, table_of
from harness.mining.schema import INDEX, RUNS
from harness.trace import Trace

_TRACES, _MANIFEST, _PARTIAL, _STOP, _TALLIES = "traces", "manifest", ".partial", "stop", "tallies"
_CHUNK = re.compile(r"(?P<kind>[a-z]+)-(?P<first>-?\d+)-(?P<last>-?\d+)\.parquet")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs of a campaign have in common; it is gone on with only where all of it is equal."""

    schema_version: int
    suite_version: str
    catalogue_digest: str
    chunk: int
    """Seeds in a chunk, of which the first failures are minimised."""
    shrink: int
    """Failing runs of one signature that are minimised in a chunk; the others are confirmed once."""
    attempts: int
    """For making one small."""
    deadline: float
    sample: int
    """One trace is kept of this number of passing runs; 0: none."""
    alphabet: dict[str, str]
    quirks: str = ""
    """`--quirks`, where it was said."""
    role: Role = "nameserver"
    """What the targets are."""


class Manifest(msgspec.Struct, kw_only=True):
    """``manifest/C/campaign.json``."""

    campaign: str
    settings: Settings
    generators: dict[str, str] = {}
    """By kind and target: what made the programs."""
    arguments: dict[str, Any] = {}
    """Of the latest command."""
    counts: dict[str, dict[str, int]] = {}
    """Runs by target and outcome, when the latest command ended."""


class Span(msgspec.Struct, frozen=True, order=True):
    """Seeds from one to another, both included, of one kind of runs."""

    kind: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """Of its files, without the ending."""
        return f"{self.kind}-{self.first}-{self.last}"

    def __len__(self) -> int:
        return self.last - self.first + 1


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What a chunk has come to so far."""

    runs: int = 0
    steps: int = 0
    size: int = 0
    """Bytes of the file of whole rows; 0 before the chunk is written."""
    outcomes: dict[str, int] = {}


def _part(campaign: str, target: str) -> str:
    return f"campaign={quote(campaign, safe='')}/target={quote(target, safe='')}"


def _trace_path(campaign: str, target: str, span: Span) -> str:
    """Where the traces of a chunk are, below the root."""
    return f"{_TRACES}/{_part(campaign, target)}/{span.name}.zip"


class Store:
    """A data set. Raises ``MiningError`` where its file system says no."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._fs, path = opened(root)
        self._base = PurePosixPath(path)

    # --- what there is --------------------------------------------------------------------------------------

    def manifest(self, campaign: str) -> Manifest | None:
        """That of a campaign; None where there is none. Raises ``MiningError`` where it cannot be read."""
        path = self._at(f"{_MANIFEST}/{quote(campaign, safe='')}/campaign.json")
        if self._fs.get_file_info(path).type == pafs.FileType.NotFound:
            return None
        try:
            with self._fs.open_input_stream(path) as file:
                return msgspec.json.decode(file.read(), type=Manifest)
        except (OSError, msgspec.MsgspecError) as problem:
            raise MiningError(f"{path}: expected the manifest of a campaign: {problem}") from problem

    def spans(self, campaign: str, target: str) -> list[Span]:
        """The chunks that are there, in the order of their seeds; none is inside another one."""
        found = []
        folder = self._at(f"{RUNS}/{_part(campaign, target)}")
        for info in self._listed(folder):
            match = _CHUNK.fullmatch(PurePosixPath(info.path).name)
            if match is not None:
                found.append(Span(match["kind"], int(match["first"]), int(match["last"])))
        return sorted(found)

    def campaigns(self) -> dict[str, list[str]]:
        """The names of the campaigns, and their targets."""
        found: dict[str, list[str]] = {}
        for campaign in self._listed(self._at(RUNS)):
            name = unquote(PurePosixPath(campaign.path).name.removeprefix("campaign="))
            targets = [PurePosixPath(one.path).name for one in self._listed(campaign.path)]
            found[name] = sorted(unquote(one.removeprefix("target=")) for one in targets)
        return found

    def index(self, campaign: str, target: str, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the runs of a target; None where there is none."""
        tables = [
            pq.read_table(
                self._at(f"{INDEX}/{_part(campaign, target)}/{span.name}.parquet"),
                filesystem=self._fs,
                columns=list(columns),
                partitioning=None,
            )
            for span in self.spans(campaign, target)
        ]
        return pa.concat_tables(tables) if tables else None

    def roles(self, campaign: str) -> set[Role]:
        """What the targets of a campaign are; none where nothing is there."""
        manifest = self.manifest(campaign)
        if manifest is not None:
            return {manifest.settings.role}
        found: set[Role] = set()
        for target in self.campaigns().get(campaign, []):
            for span in self.spans(campaign, target):
                path = self._at(f"{INDEX}/{_part(campaign, target)}/{span.name}.parquet")
                with self._fs.open_input_file(path) as file:
                    found |= _roles_in(pq.ParquetFile(file))
        return found

    # --- writing --------------------------------------------------------------------------------------------

    def begin(self, campaign: str) -> None:
        """Takes away what an earlier command has left half done."""
        with _Saying("swept"):
            folder = self._at(f"{_PARTIAL}/{quote(campaign, safe='')}")
            if self._fs.get_file_info(folder).type != pafs.FileType.NotFound:
                self._fs.delete_dir(folder)
            self._fs.create_dir(folder, recursive=True)

    def sweep(self, campaign: str, target: str) -> int:
        """Takes away what belongs to no chunk, and chunks that are inside another one; how many of these."""
        spans = self.spans(campaign, target)
        inside = [
            one
            for one in spans
            for other in spans
            if one != other and one.kind == other.kind and other.first <= one.first and one.last <= other.last
        ]
        keep = {span.name for span in spans} - {span.name for span in inside}
        part = _part(campaign, target)
        for tree in (RUNS, INDEX, _TRACES):
            for info in self._listed(self._at(f"{tree}/{part}")):
                if PurePosixPath(info.path).stem not in keep:
                    self._fs.delete_file(info.path)
        return len(inside)

    def write(
        self, campaign: str, target: str, span: Span, rows: Sequence[Row], traces: Mapping[int, Trace]
    ) -> int:
        """Puts a chunk into its place, with the traces of some of its seeds; returns its bytes."""
        part = _part(campaign, target)
        for row in rows:
            if row["seed"] in traces:
                row["trace"] = f"{_trace_path(campaign, target, span)}#{span.kind}-{row['seed']}.trace"
        if traces:
            self._put(campaign, _trace_path(campaign, target, span), _zipped(span.kind, traces))
        self._put(campaign, f"{INDEX}/{part}/{span.name}.parquet", _parquet(table_of(rows, steps=False)))
        data = _parquet(table_of(rows))
        self._put(campaign, f"{RUNS}/{part}/{span.name}.parquet", data)
        return len(data)

    def add(self, campaign: str, rows: Sequence[tuple[Row, Trace | None]]) -> None:
        """Puts recorded runs into chunks of their own, in place of those that were read before."""
        parts: dict[tuple[str, str], list[tuple[Row, Trace | None]]] = {}
        for row, trace in rows:
            parts.setdefault((row["target"], row["kind"]), []).append((row, trace))
        for (target, kind), found in parts.items():
            span = Span(kind, 0, len(found) - 1)
            traces = {row["seed"]: trace for row, trace in found if trace is not None}
            self.write(campaign, target, span, [row for row, _ in found], traces)
            self.sweep(campaign, target)

    def note(self, manifest: Manifest) -> None:
        """Writes the manifest of a campaign."""
        data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
        path = f"{_MANIFEST}/{quote(manifest.campaign, safe='')}/campaign.json"
        self._put(manifest.campaign, path, data)

    # --- while a campaign runs ------------------------------------------------------------------------------

    def report(self, campaign: str, target: str, span: Span, tally: Tally) -> None:
        """Says what a chunk has come to so far. A later report replaces the earlier one."""
        name = f"{quote(target, safe='')[:80]}-{zlib.crc32(target.encode()):08x}-{span.name}"
        path = f"{_PARTIAL}/{quote(campaign, safe='')}/{_TALLIES}/{name}"
        self._put(campaign, path, msgspec.json.encode(tally))

    def reported(self, campaign: str) -> list[Tally]:
        """The latest report of each chunk since the campaign has begun."""
        found = []
        for info in self._listed(self._at(f"{_PARTIAL}/{quote(campaign, safe='')}/{_TALLIES}")):
            with self._fs.open_input_stream(info.path) as file:
                found.append(msgspec.json.decode(file.read(), type=Tally))
        return found

    # --- stopping -------------------------------------------------------------------------------------------

    def ask_to_stop(self, campaign: str) -> None:
        """Workers of a campaign end with the run that is under way."""
        self._fs.create_dir(self._at(f"{_PARTIAL}/{quote(campaign, safe='')}"), recursive=True)
        with self._fs.open_output_stream(self._stop(campaign)) as file:
            file.write(b"stop")

    def is_to_stop(self, campaign: str) -> bool:
        """Whether that was asked for since the campaign has begun."""
        return bool(self._fs.get_file_info(self._stop(campaign)).type != pafs.FileType.NotFound)

    # --- files ----------------------------------------------------------------------------------------------

    def _stop(self, campaign: str) -> str:
        return self._at(f"{_PARTIAL}/{quote(campaign, safe='')}/{_STOP}")

    def _at(self, path: str) -> str:
        return str(self._base / path)

    def _listed(self, folder: str) -> list[Any]:
        found = self._fs.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
        return sorted(found, key=lambda info: str(info.path))

    def _put(self, campaign: str, path: str, data: bytes) -> None:
        """A file, whole or not at all: written aside, then moved."""
        place = self._at(path)
        aside = self._at(f"{_PARTIAL}/{quote(campaign, safe='')}/{os.urandom(8).hex()}")
        with _Saying(place):
            self._fs.create_dir(str(PurePosixPath(aside).parent), recursive=True)
            self._fs.create_dir(str(PurePosixPath(place).parent), recursive=True)
            with self._fs.open_output_stream(aside) as file:
                file.write(data)
            self._fs.move(aside, place)


def _roles_in(file: pq.ParquetFile) -> set[Role]:
    """Of the runs of a chunk; older ones, which do not say it, are of NameServers."""
    if "role" not in file.schema_arrow.names:
        return {"nameserver"}
    return {one or "nameserver" for one in file.read(["role"])["role"].unique().to_pylist()}


class _Saying:
    """Problems of a file system, as sentences."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: object
    ) -> None:
        if isinstance(problem, OSError):
            raise MiningError(f"{self._what}: cannot be written: {problem}") from problem


def _parquet(table: pa.Table) -> bytes:
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd", compression_level=3)
    return data.getvalue()


def _zipped(kind: str, traces: Mapping[int, Trace]) -> bytes:
    data, encoder = io.BytesIO(), msgspec.json.Encoder()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as pack:
        for seed in sorted(traces):
            lines = encoder.encode_lines((traces[seed].header, *traces[seed].events))
            pack.writestr(zipfile.ZipInfo(f"{kind}-{seed}.trace"), lines, zipfile.ZIP_DEFLATED)
    return data.getvalue()
