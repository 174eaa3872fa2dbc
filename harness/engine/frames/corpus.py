"""Programs that brought a reaction not seen before, kept from run to run.

- An entry is kept for the reactions that it was the first to bring (`Entry.brought`); it is as small as it
  was still seen to bring them. There are `LIMIT` entries at most.
- In a directory there is one file for each profile, of JSON lines; it is replaced whole or not at all. A line
  that cannot be read is left out, and so is a reaction that an earlier line has brought.
- What cannot be written is kept in memory; `trouble` says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from harness.program.steps import AnyStep

LIMIT: Final = 1000


class Entry(msgspec.Struct, frozen=True):
    """A program, and the reactions that it brought first: ``answered 0 / kv 100 / member``."""

    brought: tuple[str, ...]
    program: tuple[AnyStep, ...]


class Corpus:
    """The corpus of a profile; `directory` None keeps it in memory."""

    def __init__(self, directory: Path | None, profile: str) -> None:
        self.trouble = ""
        """Why it is not written any more; empty while it is."""
        self._path = None if directory is None else directory / f"{profile}.jsonl"
        self._entries: list[Entry] = []
        self._seen: set[str] = set()
        self._written = 0
        if self._path is not None and self._path.exists():
            for line in self._path.read_bytes().split(b"\n"):
                try:
                    entry = msgspec.json.decode(line, type=Entry)
                except msgspec.MsgspecError:
                    continue
                self.add(entry.program, entry.brought)
            self._written = len(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def programs(self) -> list[tuple[AnyStep, ...]]:
        """All programs, in the order in which they were found."""
        return [entry.program for entry in self._entries]

    def new(self, reactions: Iterable[str]) -> list[str]:
        """New reactions, each once, in order; none where the corpus is full."""
        if len(self._entries) >= LIMIT:
            return []
        return [reaction for reaction in dict.fromkeys(reactions) if reaction not in self._seen]

    def add(self, program: tuple[AnyStep, ...], reactions: Iterable[str]) -> None:
        """Keeps a program for those of its reactions that are new."""
        brought = self.new(reactions)
        if brought:
            self._seen.update(brought)
            self._entries.append(Entry(tuple(brought), program))

    def save(self) -> None:
        """Writes it, where there is something new."""
        if self._path is None or self.trouble or self._written == len(self._entries):
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial = self._path.with_name(self._path.name + ".partial")
            partial.write_bytes(msgspec.json.Encoder().encode_lines(self._entries))
            partial.replace(self._path)
        except OSError as problem:
            self.trouble = f"{self._path}: {problem.strerror or problem}"
        self._written = len(self._entries)
