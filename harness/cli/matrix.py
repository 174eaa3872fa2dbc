"""`matrix`: checks of several targets side by side, and which release of Apache's changed what."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import ROLES, Role
from harness.catalogue.versions import numbers
from harness.cli.output import complain, say, say_json
from harness.cli.parser import Usage
from harness.cli.status import HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.cli.sweep import NAME_FILE, Named, Outcome, Sweep, brief, incomplete
from harness.conformance.reread import reread
from harness.report.matrix import Absent, Matrix, column, matrix
from harness.report.matrix_pages import FILES, as_object, render_markdown, write_pages
from harness.report.results import FILE_NAME, Run, read_run
from harness.targets import TargetError, parse
from harness.targets.maven import releases

_RANGE = re.compile(r"apache:(?P<first>[0-9.]+?)\.\.(?P<last>[0-9.]*)(?P<query>\?.*)?")
_NAMED = re.compile(r"(?P<name>[^:=]+)=(?P<target>[a-z]+:.*)", re.DOTALL)
_ARTIFACTS: dict[Role, str] = {"nameserver": "rocketmq-namesrv", "broker": "rocketmq-broker"}


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    targets, unpublished = _targets(options)
    recorded = list(_recorded(options.records))
    if not targets and not recorded:
        raise Usage(
            "rmq-harness matrix: nothing to compare: name targets, or --records DIR with recorded runs"
        )
    _prepare(options.out)
    sweep = Sweep(options.out, _check_options(options), lambda run, one: _is_of(run, one, options), _progress)
    interrupted = False
    try:
        outcomes = sweep.run(targets, jobs=options.jobs, again=options.again)
    except KeyboardInterrupt:
        interrupted = True
        complain("rmq-harness matrix: interrupted; the pages have what was measured")
        outcomes = [sweep.outcome(one) for one in targets]
    outcomes += recorded
    found = _matrix(outcomes, unpublished)
    if found is None:
        for one in outcomes:
            complain(f"{one.named.shown}: {one.why}")
        return INTERRUPTED if interrupted else HARNESS_FAILED
    _write(found, options, interrupted)
    _answer(found, options)
    if interrupted:
        return INTERRUPTED
    if any(one.run is None for one in outcomes):
        return HARNESS_FAILED
    return INCONCLUSIVE if any(one.why for one in outcomes) else OK


def _targets(options: argparse.Namespace) -> tuple[list[Named], list[Absent]]:
    """What is to be checked, and the releases of a range that cannot be had."""
    found: list[Named] = []
    absent: list[Absent] = []
    for word in options.targets:
        matched = _NAMED.fullmatch(word)
        name, target = (matched["name"].strip(), matched["target"]) if matched else ("", word)
        ranged = _RANGE.fullmatch(target)
        if ranged is None:
            found.append(Named(name, target))
            continue
        for version, published in _in_range(ranged["first"], ranged["last"], options.role).items():
            if published:
                found.append(Named("", f"apache:{version}{ranged['query'] or ''}"))
            else:
                absent.append(
                    Absent(version, "Maven Central does not have this server, or not what it needs")
                )
    _refuse_mistakes(found, options.role)
    return found, absent


def _in_range(first: str, last: str, role: Role) -> dict[str, bool]:
    known = releases(_ARTIFACTS[role])
    some = {
        one: published
        for one, published in known.items()
        if numbers(first) <= numbers(one) and (not last or numbers(one) <= numbers(last))
    }
    if not any(some.values()):
        raise Usage(
            f"rmq-harness matrix: apache:{first}..{last}: no release in this range; "
            f"there are {', '.join(one for one, published in known.items() if published)}"
        )
    return some


def _refuse_mistakes(targets: Sequence[Named], role: Role) -> None:
    places: dict[str, Named] = {}
    for one in targets:
        try:
            parse(one.target, role, "")
        except TargetError as problem:
            raise Usage(f"rmq-harness matrix: {one.shown}: {problem}") from None
        other = places.setdefault(one.slug, one)
        if other is not one:
            raise Usage(
                f"rmq-harness matrix: {other.target} and {one.target} would be one column; "
                "give one of them another name: 'NAME=TARGET'"
            )


def _check_options(options: argparse.Namespace) -> list[str]:
    """What `check` is called with, for each target."""
    words = ["--role", options.role, "--report", "html"]
    if options.profile:
        words += ["--profile", options.profile]
    for option, values in (("--select", options.select), ("--exclude", options.exclude)):
        for value in values:
            words += [option, value]
    return words


def _is_of(run: Run, one: Named, options: argparse.Namespace) -> bool:
    """Whether the record is that of the check that would run now."""
    header = run.header
    return (
        header.target == one.target
        and header.role == options.role
        and options.profile in ("", header.profile)
        and (list(header.select), list(header.exclude)) == (options.select, options.exclude)
    )


def _recorded(directories: Sequence[Path]) -> Iterator[Outcome]:
    """The runs in these directories, or in the directories below them."""
    for directory in directories:
        if (directory / FILE_NAME).exists():
            below = [directory]
        else:
            below = sorted(path.parent for path in directory.glob(f"*/{FILE_NAME}"))
        if not below:
            raise Usage(
                f"rmq-harness matrix: --records {directory}: no {FILE_NAME} there or one directory below; "
                "expected the --out directory of a check or of a matrix"
            )
        for path in below:
            run = read_run(path)
            yield Outcome(_name_in(path, run), run, incomplete(run))


def _name_in(directory: Path, run: Run) -> Named:
    try:
        return msgspec.json.decode((directory / NAME_FILE).read_bytes(), type=Named)
    except (OSError, msgspec.MsgspecError):
        return Named("", run.header.target)


def _matrix(outcomes: Sequence[Outcome], unpublished: Sequence[Absent]) -> Matrix | None:
    """None where nothing was measured."""
    columns = [column(one.named.name, reread(one.run), one.why) for one in outcomes if one.run is not None]
    if not columns:
        return None
    if len({one.run.header.role for one in columns}) > 1:
        raise Usage(f"rmq-harness matrix: these are records of {' and '.join(ROLES)}s; compare each alone")
    names = [one.name for one in columns]
    columns = [
        one if names.count(one.name) == 1 else msgspec.structs.replace(one, name=f"{one.name} ({one.target})")
        for one in columns
    ]
    absent = [Absent(one.named.shown, one.why) for one in outcomes if one.run is None]
    return matrix(columns, [*absent, *unpublished])


def _prepare(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Usage(
            f"rmq-harness matrix: --out {out}: {error.strerror}; expected a directory to write to"
        ) from None


def _write(found: Matrix, options: argparse.Namespace, interrupted: bool) -> None:
    """Writes the pages. The Markdown elsewhere may be a published page: half a measurement leaves it."""
    file: Path | None = options.markdown
    try:
        write_pages(found, options.out, options.command_line)
        if file is not None and interrupted:
            complain(f"rmq-harness matrix: --markdown {file} is not written: not all was measured")
        elif file is not None:
            file.write_text(render_markdown(found, options.command_line), encoding="utf-8")
    except OSError as error:
        raise Usage(f"rmq-harness matrix: {error.filename}: {error.strerror}") from None


def _answer(found: Matrix, options: argparse.Namespace) -> None:
    for sentence in found.contradictions:
        complain(f"rmq-harness matrix: {sentence}")
    if options.json:
        say_json(as_object(found))
        return
    width = max(len(one.name) for one in found.columns)
    for one, tally in zip(found.columns, found.totals, strict=True):
        say(
            f"{one.name:<{width}}  profile {one.run.header.profile}  "
            f"{tally.held:>4} of {tally.of} statements hold"
            f"{f', {tally.failed} failed' if tally.failed else ''}"
            f"{f', {tally.quirks} with a quirk' if tally.quirks else ''}"
            f"{f', {tally.unknown} not measured' if tally.unknown else ''}"
            f"{f', {tally.later} not in this release' if tally.later else ''}"
        )
    for missing in found.absent:
        say(f"{missing.name:<{width}}  not measured: {brief(missing.why)}")
    paths = [str(options.out / name) for name in FILES.values()]
    say(f"{len(found.differing)} of {len(found.rows)} statements differ; written: {' · '.join(paths)}")


def _progress(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
