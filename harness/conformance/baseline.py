"""The baseline: known failures, each with a reason, a link and a date.

* An entry says that a case, or every case of a statement, fails. A failure that it names is `xfail`; a case
  that passes all the same is `xpass`, which fails the run until the entry is removed.
* Entries expire: after its date an entry no longer counts, and fails the run by itself. So does an entry that
  names nothing in the catalogue. Both are reported with file and line.
* A file is read completely or not at all; all its problems are reported together.
* A file from `--write-baseline` is not valid until a person has filled in the reasons.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec
import yaml

from harness.catalogue import Catalogue, did_you_mean
from harness.conformance.loading import LoadedCase
from harness.report.results import CaseResult, Run, Verdict
from harness.report.text import visible

LASTS = datetime.timedelta(days=90)  # how long a new entry counts
_MEMBERS = {
    "id": "the id of a statement, or the name of a case",
    "reason": "one sentence on why this failure is known",
    "link": "a URL, of the issue that is about it",
    "expires": "a date, such as 2030-12-31, after which it counts no more",
    "profile": "the profile for which it is meant, such as 5.3",
}
_OPTIONAL = ("profile",)


class BaselineError(Exception):
    """An invalid baseline; the message has one line for each problem."""

    def __init__(self, problems: Collection[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A known failure. `where` is file:line."""

    id: str
    reason: str
    link: str
    expires: datetime.date
    profile: str | None = None
    where: str = ""

    def names(self, result: CaseResult) -> bool:
        """Whether the entry is about the case of this result."""
        return self.id == result.case or self.id in result.statements


class Baseline(msgspec.Struct, frozen=True):
    """The entries that apply to one run, and a sentence for each stale one."""

    file: str = ""
    entries: tuple[Entry, ...] = ()
    stale: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    """A sentence for each entry whose id has a new name."""

    def settled(self, result: CaseResult) -> CaseResult:
        """The result under the baseline: a failure may be known, a pass unexpected."""
        entry = next((one for one in self.entries if one.names(result)), None)
        if entry is None:
            return result
        if result.verdict is Verdict.FAIL:
            reason = f"known until {entry.expires}: {entry.reason} ({entry.link})"
            return msgspec.structs.replace(result, verdict=Verdict.XFAIL, reason=reason)
        if result.verdict in _PASSED and not result.is_broken:
            reason = f"{entry.where} says that {entry.id} fails; take that entry out"
            return msgspec.structs.replace(result, verdict=Verdict.XPASS, reason=reason)
        return result


_PASSED = (Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED)


def read(path: Path, profiles: Collection[str]) -> tuple[Entry, ...]:
    """The entries of a file.

    Raises:
        BaselineError: with everything that is wrong with it.
    """
    problems: list[str] = []
    entries: list[Entry] = []
    for node in _items(path):
        where = f"{path}:{node.start_mark.line + 1}"
        if not isinstance(node, yaml.MappingNode):
            problems.append(f"{where}: expected an entry with {', '.join(_MEMBERS)}")
            continue
        members = {key.value: value for key, value in node.value}
        wrong = list(_wrong(path, where, members, profiles))
        problems += wrong
        if not wrong:
            texts = {name: value.value.strip() for name, value in members.items()}
            entries.append(msgspec.convert({**texts, "where": where}, Entry))
    for number, entry in enumerate(entries):
        for earlier in entries[:number]:
            if (earlier.id, earlier.profile) == (entry.id, entry.profile):
                problems.append(f"{entry.where}: {entry.id} stands at {earlier.where} already; keep one")
    if problems:
        raise BaselineError(problems)
    return tuple(entries)


def _items(path: Path) -> list[yaml.Node]:
    """The nodes of the list in a file; every scalar is a text, so that 5.3 is not taken for a number."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BaselineError([f"{path}{line}: not YAML: {error.problem or error.context}"]) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BaselineError([f"{path}: cannot be read: {why}; expected a list of known failures"]) from None
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise BaselineError([f"{path}: expected a list of entries, each with {', '.join(_MEMBERS)}"])
    return list(root.value)


def _wrong(path: Path, where: str, members: dict[str, yaml.Node], profiles: Collection[str]) -> Iterator[str]:
    for name in members:
        if name not in _MEMBERS:
            hint = did_you_mean(str(name), _MEMBERS, f"there are {', '.join(_MEMBERS)}")
            yield f"{path}:{members[name].start_mark.line + 1}: an entry has no {name!r}; {hint}"
    for name, meaning in _MEMBERS.items():
        node = members.get(name)
        if node is None:
            if name not in _OPTIONAL:
                yield f"{where}: {name} is missing: expected {meaning}"
            continue
        line = f"{path}:{node.start_mark.line + 1}"
        text = node.value.strip() if isinstance(node, yaml.ScalarNode) else None
        if text is None or not text:
            got = "is empty" if text is not None else "is no text"
            yield f"{line}: {name} {got}: expected {meaning}"
        elif name == "link" and not text.startswith(("https://", "http://")):
            yield f"{line}: link {text!r}: expected {meaning}, with https:// before it"
        elif name == "expires" and not _is_date(text):
            yield f"{line}: expires {text!r}: expected {meaning}"
        elif name == "profile" and text not in profiles:
            yield f"{line}: profile {text!r} does not exist: there are {', '.join(profiles)}"


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text) is not None
    except ValueError:
        return False


def under_current_ids(
    entries: Iterable[Entry], catalogue: Catalogue
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The entries with the ids that their statements and cases have now, and a sentence for each old id."""
    current: list[Entry] = []
    renamed: list[str] = []
    for entry in entries:
        identifier = catalogue.current(entry.id)
        if identifier != entry.id:
            renamed.append(f"{entry.where}: {entry.id} is now called {identifier}")
        current.append(msgspec.structs.replace(entry, id=identifier))
    return tuple(current), tuple(renamed)


def in_force(
    file: str,
    entries: Iterable[Entry],
    *,
    catalogue: Catalogue,
    loaded: Collection[LoadedCase],
    profile: str,
    today: datetime.date,
) -> Baseline:
    """Those of the entries that apply to a run under `profile` on this day."""
    counted: list[Entry] = []
    stale: list[str] = []
    for entry in entries:
        if entry.profile not in (None, profile):
            continue
        problem = _unknown(entry, catalogue, loaded, profile)
        if entry.expires < today:
            problem = f"expired on {entry.expires}; mend what fails, or give the entry a new date"
        if problem:
            stale.append(f"{entry.where}: {entry.id} {problem}")
        else:
            counted.append(entry)
    return Baseline(file, tuple(counted), tuple(stale))


def _unknown(entry: Entry, catalogue: Catalogue, loaded: Collection[LoadedCase], profile: str) -> str | None:
    """Why the entry matches nothing in this profile; None if it matches something."""
    statement = catalogue.statement(entry.id)
    case = next((one for one in loaded if one.name == entry.id), None)
    if statement is None and case is None:
        known = [*(one.id for one in catalogue.statements), *(one.name for one in loaded)]
        hint = did_you_mean(entry.id, known, "`rmq-harness check --list` prints the cases")
        return f"is no statement and no case; {hint}"
    if statement is not None:
        applies = statement.profiles
    else:
        assert case is not None
        applies = tuple(one.name for one in catalogue.profiles if case.statements(catalogue, one.name))
    if profile in applies:
        return None
    return f"is not of profile {profile}; write `profile: {applies[0] if applies else '?'}` into the entry"


def written(run: Run, entries: Iterable[Entry], today: datetime.date) -> tuple[str, int]:
    """A baseline of what fails in a run, and how many of its entries a person has to complete.

    `entries` are those of the baseline that the run had: one that was not proven wrong is kept as it stands,
    one whose case passes goes. Cases are named, not statements: other cases of a statement may pass.
    """
    results = {one.case: one for one in run.results}
    refuted = [one for one in results.values() if one.verdict is Verdict.XPASS]
    kept = [entry for entry in entries if not any(entry.names(one) for one in refuted)]
    new = [one for one in results.values() if one.verdict is Verdict.FAIL]
    unnamed = [one for one in new if not any(entry.names(one) for entry in kept)]
    lines = ["# Failures that are known. An entry needs a reason and a link before it can be used.", ""]
    for entry in kept:
        lines += _entry(entry.id, entry.reason, entry.link, entry.expires, entry.profile)
    for one in unnamed:
        if one.failure is not None:
            lines += [f"# {line}" for line in _told(one)]
        lines += _entry(one.case, "", "", today + LASTS, run.header.profile)
    if not kept and not unnamed:
        lines.append("[]")
    return "\n".join(lines).rstrip("\n") + "\n", len(unnamed)


def _told(result: CaseResult) -> list[str]:
    failure = result.failure
    assert failure is not None
    lines = [f"{failure.statement}: {failure.text}", f"expected {failure.expected}", f"got {failure.actual}"]
    return [shown for line in lines for shown in visible(line, keep_lines=True).splitlines()]


def _entry(identifier: str, reason: str, link: str, expires: datetime.date, profile: str | None) -> list[str]:
    members = {"id": identifier, "reason": reason, "link": link}
    lines = [f"  {name}: {_scalar(value)}" for name, value in members.items()]
    lines += [f"  expires: {expires}", *([f'  profile: "{profile}"'] if profile else []), ""]
    lines[0] = "- " + lines[0].lstrip()
    return lines


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line."""
    dumped: str = yaml.safe_dump(text, allow_unicode=True, width=10**6, default_style=None if text else '"')
    return dumped.split("\n")[0]
