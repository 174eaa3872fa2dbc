"""`explain`: whatever has a name or a number in the catalogue, with all that belongs to it."""

from __future__ import annotations

import argparse
import textwrap

from harness.catalogue import catalogue, did_you_mean, messages, tag_of, tags_of
from harness.cli.explained import (
    Answer,
    of_case,
    of_chapter,
    of_mutant,
    of_quirk,
    of_request,
    of_response,
    of_setting,
    of_statement,
    of_tag,
)
from harness.cli.output import complain, say, say_json
from harness.cli.parser import Usage
from harness.conformance.loading import LoadedCase, cases
from reference_impl.mutants import MUTANTS

WIDTH = 110
_SHOWN = 20
"""Lines of a list that people get; `--json` has all of them."""


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    loaded = cases()
    name = catalogue().current(options.id)
    if name != options.id:
        complain(f"rmq-harness explain: {options.id} is now called {name}")
    found = _identified(name, loaded) or _named(name, loaded)
    if not found:
        hint = did_you_mean(name, _known(loaded), "`rmq-harness check --list` prints the cases")
        raise Usage(f"rmq-harness explain: {name!r} is not in the catalogue; {hint}")
    if options.json:
        say_json(found[0] if len(found) == 1 else {"found": found})
        return 0
    for number, answer in enumerate(found):
        if number:
            say("")
        _print(answer)
    return 0


def _identified(name: str, loaded: list[LoadedCase]) -> list[Answer]:
    """What has this id: ids are unique."""
    if statement := catalogue().statement(name):
        return [of_statement(statement, [one for one in loaded if name in one.case.statements])]
    answers = [of_case(one) for one in loaded if one.name == name]
    answers += [
        of_quirk(server, quirk)
        for server in catalogue().servers
        for quirk in server.quirks
        if quirk.id == name
    ]
    answers += [of_mutant(MUTANTS[name], loaded)] if name in MUTANTS else []
    return answers


def _named(name: str, loaded: list[LoadedCase]) -> list[Answer]:
    """Everything that is called so. Requests and responses share numbers; chapters and tags share names."""
    called = (name, name.upper().replace("-", "_"))
    answers = [
        of_request(one, loaded) for one in messages().messages if str(one.code) == name or one.name in called
    ]
    answers += [
        of_response(one, loaded)
        for one in messages().responses.codes
        if str(one.number) == name or one.name in called
    ]
    settings = messages().settings
    answers += [of_setting(one, loaded) for one in settings.keys if one.name == name]
    answers += [of_setting(one, loaded, at_start=True) for one in settings.properties if one.name == name]
    if any(statement.chapter == name for statement in catalogue().statements):
        answers.append(of_chapter(name, loaded))
    tag = tag_of(name.removeprefix("tag:"))
    report = catalogue().report(tag)
    if report is not None or catalogue().tagged(tag):
        answers.append(of_tag(tag, report, loaded))
    return answers


def _known(loaded: list[LoadedCase]) -> list[str]:
    """Everything that can be asked for."""
    statements, protocol = catalogue().statements, messages()
    return [
        *(one.id for one in statements),
        *(one.name for one in loaded),
        *(one.id for one in catalogue().quirks),
        *MUTANTS,
        *(one.name for one in protocol.messages),
        *(one.name for one in protocol.responses.codes),
        *(one.name for one in (*protocol.settings.keys, *protocol.settings.properties)),
        *(one.name.lower().replace("_", "-") for one in protocol.messages),
        *(one.chapter for one in statements),
        *(one for report in catalogue().reports for one in report.tags),
        *(one for statement in statements for one in tags_of(statement)),
    ]


def _print(answer: Answer) -> None:
    for key, value in answer.items():
        lines = value if isinstance(value, list) else [value]
        if len(lines) > _SHOWN:
            lines = [*lines[:_SHOWN], f"… and {len(lines) - _SHOWN} more; --json has all {len(lines)}"]
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
