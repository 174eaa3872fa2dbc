"""The findings of a run: in memory, and in the out folder for the runs that come after it.

Invariants:
- There are three folders: ``unconfirmed`` (seen before the run ended), ``findings`` and ``flaky``. A failure
  is in one of them at a time. ``index.jsonl`` has a line for each change of a signature; the last line
  counts, and a line that was cut short does not.
- What cannot be written is kept in memory. `trouble` says why, once; nothing more is written then.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import Statement
from harness.findings import folder
from harness.findings.experiment import (
    Attempt,
    Experiment,
    Finding,
    Flaky,
    Signature,
)
from harness.findings.folder import FindingReport, State
from harness.program.steps import AnyStep
from harness.spec import Violation

INDEX = "index.jsonl"
_ROOMS = {"unconfirmed": "unconfirmed", "finding": "findings", "flaky": "flaky"}


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A line of the index: what became of a signature, or that it was seen again."""

    signature: Signature
    state: State
    directory: str | None = None
    times: int = 1


class FindingStore:
    """The findings of a run. `out` None: nothing is written. `statements` tells the text of a statement,
    `why` why a finding is known, or nothing.
    """

    def __init__(
        self,
        out: Path | None,
        *,
        statements: dict[str, Statement] | None = None,
        why: Callable[[Finding], str] = lambda _: "",
    ) -> None:
        """Takes over what a run before has left in `out`."""
        self.findings: list[Finding] = []
        self.flaky: list[Flaky] = []
        self.unconfirmed: dict[Signature, Flaky] = {}
        """What was seen and is neither confirmed nor refuted: triaged again where it is met again."""
        self.trouble = ""
        """Why nothing more is written; empty while it is."""
        self._statements = statements or {}
        self._why = why
        self._out = out
        self._given_up: Counter[Signature] = Counter()
        if out is not None:
            try:
                self._take_over(out)
            except OSError as problem:
                self._fails(problem)

    def known(self, program: Sequence[AnyStep], violation: Violation) -> Finding | None:
        """The finding that a violation shows again, if it was confirmed before."""
        return next((one for one in self.findings if one.is_shown_by(program, violation)), None)

    def given_up(self, signature: Signature) -> int:
        """How often a signature was flaky."""
        return self._given_up[signature]

    def again(self, finding: Finding) -> None:
        """A known finding was met again."""
        finding.times += 1
        line = _Line(
            signature=finding.signature, state="finding", directory=finding.directory, times=finding.times
        )
        self._append(line)

    def keep(
        self, state: State, found: Finding | Flaky, experiment: Experiment, attempts: tuple[Attempt, ...]
    ) -> None:
        """Keeps what is known of a failure by now, in place of what was known before.

        ``attempts`` are those that show the program of `found`.
        """
        signature = found.signature
        self.unconfirmed.pop(signature, None)
        if isinstance(found, Finding):
            self._remember(found)
        elif state == "flaky":
            self.flaky.append(found)
            self._given_up[signature] += 1
        else:
            self.unconfirmed[signature] = found
        self._write(state, found, experiment, attempts)

    def rename(self, found: Finding, signature: Signature) -> None:
        """A finding is of another signature, now that more is known; its old folder goes."""
        old, name = found.signature, folder.name_of(found.signature)
        self.findings = [one for one in self.findings if one.signature != old]
        found.signature, found.directory = signature, None
        found.violation = msgspec.structs.replace(found.violation, statement=signature.statement)
        if self._out is not None and not self.trouble:
            for room in _ROOMS.values():
                shutil.rmtree(self._out / room / name, ignore_errors=True)

    def _remember(self, found: Finding) -> None:
        signature = found.signature
        found.known = self._why(found)
        self.flaky = [one for one in self.flaky if one.signature not in (signature, found.plain)]
        if any(one.signature == signature for one in self.findings):
            self.findings = [found if one.signature == signature else one for one in self.findings]
        else:
            self.findings.append(found)

    # --- on disk --------------------------------------------------------------------------------------------

    def _write(
        self, state: State, found: Finding | Flaky, experiment: Experiment, attempts: tuple[Attempt, ...]
    ) -> None:
        if self._out is None or self.trouble:
            return
        name = folder.name_of(found.signature)
        directory = self._out / _ROOMS[state] / name
        before, found.directory = found.directory, str(directory)
        report = FindingReport(
            state=state,
            found=found,
            experiment=experiment,
            attempts=attempts,
            statement=self._statements.get(found.signature.statement),
        )
        try:
            folder.write(directory, report)
        except OSError as problem:
            found.directory = before
            self._fails(problem)
            return
        for other, room in _ROOMS.items():
            if other != state:
                shutil.rmtree(self._out / room / name, ignore_errors=True)
        self._append(_Line(signature=found.signature, state=state, directory=found.directory))

    def _append(self, line: _Line) -> None:
        if self._out is None or self.trouble:
            return
        try:
            with (self._out / INDEX).open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
        except OSError as problem:
            self._fails(problem)

    def _fails(self, problem: OSError) -> None:
        where = problem.filename or self._out
        self.trouble = f"{where}: {problem.strerror or problem}; what is found from here on is only printed"

    def _take_over(self, out: Path) -> None:
        for room in _ROOMS.values():
            if (out / room).is_dir():
                folder.recover(out / room)
        out.mkdir(parents=True, exist_ok=True)
        path = out / INDEX
        if not path.exists():
            return
        data = path.read_bytes()
        if data and not data.endswith(b"\n"):  # cut short: what is appended must begin a line
            path.write_bytes(data[: data.rfind(b"\n") + 1])
        latest: dict[Signature, _Line] = {}
        for text in data.split(b"\n")[:-1]:
            try:
                line = msgspec.json.decode(text, type=_Line)
            except msgspec.MsgspecError:
                continue
            latest[line.signature] = line
        for line in latest.values():
            self._take(out, line)

    def _take(self, out: Path, line: _Line) -> None:
        directory = out / _ROOMS.get(line.state, line.state) / folder.name_of(line.signature)
        try:
            found = folder.read_summary(directory).found
        except (OSError, msgspec.MsgspecError):
            return  # it is not there any more: it is triaged anew where it is met
        found.directory = str(directory)
        if isinstance(found, Finding):
            found.times = max(found.times, line.times)
            self._remember(found)
        elif line.state == "flaky":
            self.flaky.append(found)
        else:
            self.unconfirmed[line.signature] = found
