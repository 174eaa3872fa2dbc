"""`check`: the catalogue against a target.

The cases run under pytest, in this process or in workers, with a configuration of our own: no file, variable
or plugin of the user's pytest has a say in a measurement.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import cast

import msgspec
import pytest

from harness import conformance
from harness.catalogue import Class, Level
from harness.cli.following import Follower, Ticking
from harness.cli.options.shared import SCHEMES
from harness.cli.output import complain, say_json, watched
from harness.cli.parser import Usage
from harness.cli.status import INCONCLUSIVE
from harness.conformance.baseline import BaselineError, Entry, written
from harness.conformance.last_record import last_record, not_failing, still_failing
from harness.conformance.plan import CheckOptions, CheckOptionsError, plan, with_baseline
from harness.conformance.record import CheckRecord
from harness.conformance.selection import Selection
from harness.report import json_report
from harness.report.allure import AllureMissingError, pytest_arguments
from harness.report.console import Console
from harness.report.results import RecordError, Run, read_run
from harness.report.write import FORMATS, write_reports
from harness.targets import LOGS, TargetError

ALLURE = "allure-results"
_WITHOUT_PROFILE = ("exec", "tcp")
"""Targets of which the harness does not know what release they are."""
_NOT_USED = ("terminal", "cacheprovider", "logging", "unraisableexception")
"""Plug-ins of pytest that a run does without. The last one would replace the command's `sys.unraisablehook`,
and run the garbage collector five times at the end."""


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    before = last_record(options.out)
    names_none = options.target == options.parser.get_default("target")
    if names_none and (options.failed or "").partition(":")[0] in SCHEMES:
        options.target, options.failed = options.failed, ""  # `check --failed TARGET`
    asked, entries = _with_baseline(options, _check_options(options))
    if options.failed is not None:
        asked = _failed(options, asked)
    people = watched(sys.stderr if options.json else sys.stdout)
    try:
        chosen = plan(asked)
    except (CheckOptionsError, TargetError) as problem:
        raise Usage(f"rmq-harness check: {problem}") from None
    for sentence in chosen.renamed:
        complain(f"rmq-harness check: {sentence}")
    if chosen.selection.unmatched or not chosen.selection.cases:
        return _nothing(options, asked, chosen.selection)
    if options.listing:
        from harness.cli.listing import print_selection

        print_selection(chosen.selection, as_json=options.json)
        return 0
    if options.workers > 1 and asked.nameserver:
        raise Usage("rmq-harness check: --nameserver: one process can listen there; leave -n out")
    _prepare(options.out)
    arguments = _arguments(options, chosen.selection)
    console = Console(people)
    try:
        with Ticking(console, chosen.target.uri):
            instance = chosen.target.start()
    except TargetError as error:
        _answer_json(options, 4, str(error))
        raise
    record = CheckRecord(chosen, instance, before, workers=options.workers)
    try:
        with _own_environment(), Ticking(console):
            pytest.main(arguments, plugins=[Follower(record, console)])
    finally:
        console.close()
        instance.stop()
    return _finish(options, record, console, entries)


def _failed(options: argparse.Namespace, asked: CheckOptions) -> CheckOptions:
    """The options for the cases alone that failed in the last record; its profile, if none is named.

    Another target that says what it is (`builtin:4.9`, `apache:5.3.3`) keeps its own profile.
    """
    directory = Path(options.failed) if options.failed else options.out
    try:
        run = read_run(directory)
    except RecordError as problem:
        raise Usage(
            f"rmq-harness check: --failed: {problem}; run without --failed first, or name the directory that "
            "was its --out"
        ) from None
    header = run.header
    if header.role != asked.role:
        raise Usage(
            f"rmq-harness check: --failed: {directory} is the record of a {header.role}, and this checks a "
            f"{asked.role}; say --role {header.role}, or name another directory"
        )
    is_same = header.target == asked.target or asked.target.partition(":")[0] in _WITHOUT_PROFILE
    profile = asked.profile or (header.profile if is_same else "")
    return msgspec.structs.replace(
        asked, names=still_failing(run), not_tried_again=not_failing(run), profile=profile
    )


def _with_baseline(
    options: argparse.Namespace, asked: CheckOptions
) -> tuple[CheckOptions, tuple[Entry, ...]]:
    """The options with their baseline, and all entries of that."""
    new: Path | None = options.write_baseline
    if new is not None and new.exists() and new != options.baseline:
        raise Usage(
            f"rmq-harness check: --write-baseline {new}: it exists, and what people wrote in it would be "
            f"lost; add --baseline {new} to keep what still holds, or name another file"
        )
    if options.baseline is None:
        return asked, ()
    try:
        return with_baseline(asked, options.baseline)
    except BaselineError as error:
        lines = "\n".join(f"  {problem}" for problem in error.problems)
        count = "1 problem" if len(error.problems) == 1 else f"{len(error.problems)} problems"
        raise Usage(
            f"rmq-harness check: --baseline {options.baseline}: {count}; nothing was run\n{lines}"
        ) from None
    except (CheckOptionsError, TargetError) as problem:
        raise Usage(f"rmq-harness check: {problem}") from None


def _check_options(options: argparse.Namespace) -> CheckOptions:
    return CheckOptions(
        target=options.target,
        role=options.role,
        nameserver=options.nameserver,
        profile=options.profile,
        select=tuple(options.select),
        exclude=tuple(options.exclude),
        level=cast("Level | None", options.level and options.level.upper()),
        fast=options.fast,
        stop_at_failure=options.stop_at_failure,
        classes=cast("tuple[Class, ...]", tuple(dict.fromkeys(options.classes))),
        strict=options.strict,
        quirks=options.quirks,
        deadline=options.deadline,
        out=str(options.out.resolve()),
        allure="allure" in options.report,
        shuffle=options.shuffle,
        command=options.command_line,
    )


def _nothing(options: argparse.Namespace, asked: CheckOptions, chosen: Selection) -> int:
    """A selection that leaves nothing is said, and is never green."""
    if chosen.unmatched:
        why = "; ".join(chosen.unmatched)
    elif asked.names == ():
        why = (
            f"no case failed, was blocked or flaky in the record in {options.failed or options.out}; "
            "leave --failed out to run them all"
        )
    elif chosen.waiting:
        count = "the one case" if chosen.waiting == 1 else f"all {chosen.waiting} cases"
        why = f"{count} that you selected must wait for time to pass, and --fast leaves these out"
    else:
        why = (
            f"nothing of what was selected applies under profile {chosen.profile}; "
            f"`rmq-harness check --list --profile {chosen.profile}` prints what does"
        )
    complain(f"rmq-harness check: nothing was measured: {why}")
    _answer_json(options, INCONCLUSIVE, why)
    return INCONCLUSIVE


def _answer_json(options: argparse.Namespace, status: int, why: str) -> None:
    """The result object of a run that never began."""
    if options.json:
        conclusion = "INCONCLUSIVE" if status == INCONCLUSIVE else "ERROR"
        answer = {
            "conclusion": conclusion,
            "exit_status": status,
            "why": why,
            "target": {"uri": options.target},
        }
        say_json(answer)


def _prepare(out: Path) -> None:
    try:
        (out / "traces").mkdir(parents=True, exist_ok=True)
        for old in (*(out / "traces").glob("*.trace"), *out.glob(LOGS)):
            old.unlink()
    except OSError as error:
        raise Usage(
            f"rmq-harness check: --out {out}: {error.strerror}; expected a directory to write to"
        ) from None


def _arguments(options: argparse.Namespace, chosen: Selection) -> list[str]:
    """What pytest is called with: the files of the chosen cases alone, as collecting others takes time."""
    home = Path(conformance.__file__).parent
    files = dict.fromkeys(one.key.partition("::")[0] for one in chosen.cases)
    arguments = [
        *(str(home / file) for file in files),
        "-c",
        str(home / "pytest.ini"),
        "--rootdir",
        str(home),
        "-p",
        "harness.pytest_plugin",
    ]
    arguments += [word for name in _NOT_USED for word in ("-p", f"no:{name}")]
    arguments += ["--capture=no", "--assert=plain"]
    if options.workers > 1:
        arguments += ["-p", "xdist.plugin", "-n", str(options.workers), "--dist", "loadgroup"]
    if "allure" in options.report:
        try:
            arguments += ["-p", "allure_pytest.plugin", *pytest_arguments((options.out / ALLURE).resolve())]
        except AllureMissingError as problem:
            raise Usage(f"rmq-harness check: {problem}") from None
    return arguments


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """No variable of the user's configures the pytest that measures, here or in a worker."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in kept:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(kept)


def _finish(
    options: argparse.Namespace, record: CheckRecord, console: Console, entries: tuple[Entry, ...]
) -> int:
    run = record.run
    if run is None or run.end is None:
        raise RuntimeError("pytest ended before the run did")
    reports = write_reports(run, [name for name in options.report if name in FORMATS], options.out)
    paths = list(reports.paths)
    if "allure" in options.report:
        paths.append(options.out / ALLURE)
    console.finish(run.end, [str(path) for path in paths])
    for refusal in reports.refused:
        complain(f"rmq-harness check: {refusal}")
    if options.write_baseline is not None:
        _write_baseline(run, entries, options.write_baseline)
    if options.json:
        sys.stdout.write(json_report.render(run))
    return run.end.exit_status


def _write_baseline(run: Run, entries: tuple[Entry, ...], file: Path) -> None:
    text, incomplete = written(run, entries, date.today())
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Usage(f"rmq-harness check: --write-baseline {file}: {error.strerror}") from None
    if incomplete:
        complain(f"{file}: {incomplete} new; give each a reason and a link before you use it as --baseline")
