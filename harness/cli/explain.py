"""`explain`: one statement, case, quirk, mutant or upstream bug report, with all that belongs to it."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from harness.catalogue import (
    CLASSES,
    Quirk,
    Report,
    Server,
    Statement,
    catalogue,
    did_you_mean,
    tag_of,
    tags_of,
)
from harness.cli.output import complain, say, say_json
from harness.cli.parser import Usage
from harness.conformance.loading import LoadedCase, cases
from harness.spec.quirks import step_titles
from reference_impl.mutants import MUTANTS

WIDTH = 110


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    loaded = cases()
    name = catalogue().current(options.id)
    if name != options.id:
        complain(f"rmq-harness explain: {options.id} is now called {name}")
    answer = _explain(name, loaded)
    if options.json:
        say_json(answer)
    else:
        _print(answer)
    return 0


def _explain(name: str, loaded: list[LoadedCase]) -> dict[str, Any]:
    statement = catalogue().statement(name)
    if statement is not None:
        return _statement(statement, [one for one in loaded if name in one.case.statements])
    for one in loaded:
        if one.name == name:
            return _case(one)
    for server in catalogue().servers:
        for quirk in server.quirks:
            if quirk.id == name:
                return _quirk(server, quirk)
    if name in MUTANTS:
        found = MUTANTS[name]
        return {
            "mutant": name,
            "text": found.description,
            "roles": list(found.roles),
            "profiles": list(found.profiles),
            **({"history": found.history} if found.history else {}),
            "killed by": [one.name for one in loaded if name in one.case.kills],
        }
    tag = tag_of(name.removeprefix("tag:"))
    report, speaking = catalogue().report(tag), catalogue().tagged(tag)
    if report is not None or speaking:
        return _report(tag, report, loaded)
    known = [
        *(one.id for one in catalogue().statements),
        *(one.name for one in loaded),
        *(one.id for one in catalogue().quirks),
        *MUTANTS,
        *(one for report in catalogue().reports for one in report.tags),
        *(one for statement in catalogue().statements for one in tags_of(statement)),
    ]
    hint = did_you_mean(name, known, "`rmq-harness check --list` prints the cases")
    known_as = "statement, case, quirk, mutant, report or tag"
    raise Usage(f"rmq-harness explain: no {known_as} is called {name!r}; {hint}")


def _statement(statement: Statement, proving: list[LoadedCase]) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "statement": statement.id,
        "level": statement.level,
        "class": f"{statement.class_}: {CLASSES[statement.class_]}",
        "roles": list(statement.roles),
        "profiles": list(statement.profiles),
        "text": statement.text,
        "stimulus": statement.stimulus,
        "observable": statement.observable,
        "source": [f"{source}: {source.path}" for source in statement.source],
        "observed": [f"Apache {version}" for version in statement.observed],
        "issues": list(statement.issues),
        "tags": list(statement.tags),
        "notes": statement.notes,
        "untestable": statement.untestable,
        "cases": [_titled(one) for one in proving],
        "mutants": sorted({name for one in proving for name in one.case.kills}),
        "quirks": [
            f"{quirk.id}: {_releases(server, quirk)}"
            for server in catalogue().servers
            for quirk in server.quirks
            if statement.id in quirk.statements
        ],
    }
    return {key: value for key, value in answer.items() if value not in (None, [])}


def _report(tag: str, report: Report | None, loaded: list[LoadedCase]) -> dict[str, Any]:
    """A bug report, or a tag that is none, with the statements that speak of it."""
    speaking = catalogue().tagged(*(report.tags if report is not None else (tag,)))
    known = {statement.id for statement in speaking}
    proving = [one for one in loaded if known.intersection(one.case.statements)]
    answer: dict[str, Any] = {
        "tag": tag,
        "text": report and report.title,
        "issues": list(report.issues) if report else [],
        "fixed": report and report.fixed,
        "untestable": report and report.untestable,
        "statements": [f"{statement.id}: {statement.text}" for statement in speaking],
        "cases": [_titled(one) for one in proving],
        "history": [
            f"{found.name}: {found.history}"
            for found in MUTANTS.values()
            if found.history and any(found.name in one.case.kills for one in proving)
        ],
    }
    return {key: value for key, value in answer.items() if value not in (None, [])}


def _titled(one: LoadedCase) -> str:
    """A case under its statement: its name, and its title if that says something else."""
    return f"{one.name}: {one.case.title}" if one.case.title else one.name


def _quirk(server: Server, quirk: Quirk) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "quirk": quirk.id,
        "of": _releases(server, quirk),
        "instead": quirk.instead,
        "breaks": list(quirk.statements),
        "seen in": list(quirk.cases),
        "in programs": list(step_titles(quirk)),
        "source": [f"{source}: {source.path}" for source in quirk.source],
        "observed": list(quirk.observed),
        "issues": list(quirk.issues),
        "intermittent": quirk.intermittent,
        "notes": quirk.notes,
    }
    return {key: value for key, value in answer.items() if value not in (None, [])}


def _releases(server: Server, quirk: Quirk) -> str:
    return f"{server.title}, {', '.join(map(str, quirk.versions))}"


def _case(one: LoadedCase) -> dict[str, Any]:
    return {
        "case": one.name,
        "text": one.title(catalogue()),
        "proves": list(one.case.statements),
        "kills": list(one.case.kills),
        "advances time": one.case.clock,
        "own server": one.case.own_server,
        "function": one.case.where,
    }


def _print(answer: dict[str, Any]) -> None:
    for key, value in answer.items():
        lines = value if isinstance(value, list) else [value]
        label = key
        for line in lines:
            text = {True: "yes", False: "no"}.get(line, str(line)) if isinstance(line, bool) else str(line)
            wrapped = textwrap.wrap(
                text,
                WIDTH,
                initial_indent=f"{label:<15}",
                subsequent_indent=" " * 15,
                break_long_words=False,
                break_on_hyphens=False,
            )
            say("\n".join(wrapped))
            label = ""
