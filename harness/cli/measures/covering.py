"""Which cases run which lines, measured once for as long as no code and no part of the catalogue changes.

So is how long they take, as a measure of what a fault may take.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue.files import specs_directory
from harness.cli.bar import Line
from harness.cli.measures.scope import ROOT
from harness.cli.measures.trying import Ran, Work, covered

_KEPT = "covered"
"""The directory below `--out`."""


def lines_run(pool: Executor, works: Sequence[Work], out: Path, people: TextIO) -> list[Ran]:
    """For each work, which of its cases run which lines; says how far it is."""
    places = [_place(out, work) for work in works]
    found: list[Ran | None] = [_read(place) for place in places]
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        running = {pool.submit(covered, works[n]): n for n, one in enumerate(found) if one is None}
        for done, future in enumerate(as_completed(running), len(works) - len(running) + 1):
            number = running[future]
            work, ran = works[number], future.result()
            found[number] = ran
            _keep(places[number], ran)
            said = f"{work.role} {work.profile}: {len(work.cases)} cases have run, {done} of {len(works)}"
            line.show(said, done, len(works))
            line.log(said)
    return [one for one in found if one is not None]


def _place(out: Path, work: Work) -> Path:
    """Its name has a hash of all that decides what is in it."""
    inputs = hashlib.sha256(f"{sys.version} {work}".encode())
    for path in _inputs():
        inputs.update(path.as_posix().encode())
        inputs.update(path.read_bytes())
    return out / _KEPT / f"{work.role}-{work.profile}-{inputs.hexdigest()[:16]}.json"


def _inputs() -> Iterator[Path]:
    for directory in (ROOT / "harness", ROOT / "reference_impl"):
        yield from sorted(directory.rglob("*.py"))
    yield from sorted(path for path in Path(str(specs_directory())).rglob("*.yaml"))


def _read(place: Path) -> Ran | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(place.read_bytes(), type=Ran)
    return None


def _keep(place: Path, ran: Ran) -> None:
    """Replaces what was measured of other code. Where that is not possible, the next run measures again."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        for old in place.parent.glob(f"{place.name.rpartition('-')[0]}-*.json"):
            old.unlink()
        place.write_bytes(msgspec.json.encode(ran))
