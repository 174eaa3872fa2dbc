"""What a differential run leaves on disk: its head, a journal of rounds, programs of findings.

- The journal grows by one line when a round is done, so that an interrupt loses one round at most, and a run
  can go on where it stopped.
- A program is a file of JSON lines: a head, then one step a line. It can be written by hand.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.engine.peer.causes import Example
from harness.engine.peer.generate import Program, RoundKind
from harness.engine.peer.normal import Compare
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Time
from harness.program.steps import AnyStep, decode_step, encode_step, title_of

FORMAT = 2
"""Of journals; it grows when the same seed makes other rounds."""


class ProgramError(Exception):
    """A program file that cannot be read; the text says where and why."""


class RecordMismatch(Exception):  # noqa: N818  (said to people)
    """A run on disk that is not the one to go on with."""


class _ProgramHead(msgspec.Struct, kw_only=True):
    program: int = 1
    profile: str
    kind: RoundKind = "plain"


def write_program(path: Path, program: Program) -> None:
    """Writes a program file."""
    head = msgspec.json.encode(_ProgramHead(profile=program.profile, kind=program.kind)).decode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *map(encode_step, program.steps)]) + "\n", encoding="utf-8")


def _compared(step: AnyStep, where: str) -> AnyStep:
    if isinstance(step, ns.AnyRequest | Close | Time):
        return step
    raise ProgramError(
        f'{where}: expected a request to a NameServer, a close or time, got "{title_of(type(step))}", which '
        "is not compared between two servers; `rmq-harness replay` plays the findings of `fuzz`"
    )


def read_program(path: Path) -> Program:
    """Reads a program file. Raises ``ProgramError``."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as problem:
        raise ProgramError(f"{path} cannot be read: {problem}") from problem
    if not lines:
        raise ProgramError(f'{path} is empty; expected {{"program":1,"profile":"5.3"}} and a step a line')
    steps: list[AnyStep] = []
    for number, line in enumerate(lines, 1):
        try:
            if number == 1:
                head = msgspec.json.decode(line, type=_ProgramHead)
            else:
                steps.append(_compared(decode_step(line), f"{path}, line {number}"))
        except msgspec.MsgspecError as problem:
            what = "a step" if number > 1 else 'a head such as {"program":1,"profile":"5.3"}'
            raise ProgramError(f"{path}, line {number}: expected {what}: {problem}") from problem
    if not steps:
        raise ProgramError(f"{path} has no step: nothing could be measured")
    return Program(kind=head.kind, profile=head.profile, steps=tuple(steps))


class Head(msgspec.Struct, kw_only=True):
    """What makes a run the one that it is."""

    format: int = FORMAT
    a: str
    b: str
    profile: str
    seed: str
    quirks: str = ""
    """`--quirks`, where it was said."""
    compare: Compare = "meaning"


class Entry(msgspec.Struct, kw_only=True):
    """One round that is done."""

    round: int
    kind: str
    steps: int
    explained: dict[str, int] = {}
    """Divergences by the quirk that explains them."""
    triggered: dict[str, int] = {}
    """Steps that were about a quirk."""
    asked: dict[str, int] = {}
    """How many steps of each kind were carried out."""
    seen: dict[str, int] = {}
    """How often each known cause was seen."""
    followed: dict[str, int] = {}
    """How often an answer differed behind a cause, about names that it had touched."""
    learnt: list[Example] = []
    """What was not known before."""
    deaths: dict[str, str] = {}
    """By the name of its finding: at which step a server died, and its last words."""
    unrepeated: int = 0
    """Divergences that did not show again."""
    repeated: int = 0
    """How often the round was repeated because the clocks ran away, or after a divergence."""
    given_up: bool = False
    """It stalled whenever it was tried; none of its steps counts."""
    left_out: bool = False
    """It was not played: it would take minutes of real time, or spoil a server that cannot be replaced."""
    restarted: bool = False
    """The servers were started anew before it."""


class Journal:
    """The rounds of a run, on disk where there is a directory for them."""

    def __init__(self, out: Path | None, head: Head, *, resume: bool) -> None:
        """Raises ``RecordMismatch`` where there is nothing to resume, or something else."""
        self.head = head
        self.entries: list[Entry] = []
        self._path = None if out is None else out / "journal.jsonl"
        if out is None or self._path is None:
            return
        first = msgspec.json.encode(head)
        if resume:
            self._read(self._path, first)
            return
        out.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(first + b"\n")

    def _read(self, path: Path, head: bytes) -> None:
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            raise RecordMismatch(f"there is no run to resume: {path} does not exist") from None
        if not lines or lines[0] != head:
            was = lines[0].decode("utf-8", "replace") if lines else "nothing"
            raise RecordMismatch(f"{path} is of another run: {was}; expected {head.decode()}")
        kept = [lines[0]]
        for line in lines[1:]:
            try:
                self.entries.append(msgspec.json.decode(line, type=Entry))
            except msgspec.MsgspecError:
                break  # the line that an interrupt cut short
            kept.append(line)
        path.write_bytes(b"\n".join(kept) + b"\n")

    def add(self, entry: Entry) -> None:
        """A round is done."""
        self.entries.append(entry)
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(entry) + b"\n")

    @property
    def examples(self) -> list[Example]:
        """All that was learnt."""
        return [example for entry in self.entries for example in entry.learnt]

    @property
    def steps(self) -> int:
        """Steps of all rounds so far."""
        return sum(entry.steps for entry in self.entries)
