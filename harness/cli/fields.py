"""`fields`: what a server makes of each ext field in unusual forms, beside what Apache's servers do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue import Message, messages, specs_directory
from harness.catalogue.fields import Cells, field_table, path_of, requests_with_fields, updated
from harness.cli.asked import profile_of, target_of
from harness.cli.bar import Line
from harness.cli.output import complain, say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, OK
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.sessions import session_of
from harness.session import DEFAULT_SETUP, Instance, RunningClock, Setup
from harness.session.errors import Blocked, CaseTimeout, Unmet, Unsupported
from harness.session.outcome import kind_of
from harness.targets import Target
from harness.version import version

FILE = "fields.json"
_WITHIN = 300.0
"""Real seconds for all forms of one request: a server that answers none costs each its whole wait."""


class Difference(msgspec.Struct, frozen=True):
    """A form that the server answers otherwise than Apache's. `judged`: whether that is wrong."""

    code: int
    request: str
    field: str
    form: str
    expected: str
    actual: str
    judged: bool


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    target = target_of("fields", options.target, options, options.role)
    profile = profile_of("fields", options.profile, target, options.role)
    release = _release(options, target)
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    asked = list(requests_with_fields(messages().of(options.role), profile))
    seen: dict[int, dict[str, dict[str, str]]] = {}
    unasked: dict[str, str] = {}
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        for number, (message, cells, why) in enumerate(_asked(options, target, profile, asked), 1):
            line.show(f"{number} of {len(asked)} requests", number, len(asked))
            if why:
                unasked[f"{message.code} {message.name}"] = why
            else:
                seen[message.code] = cells
    if release:
        _write(options, profile, release, seen)
    found = list(_differences(options.role, profile, asked, seen))
    answer = _answer(options, profile, seen, found, unasked, stopwatch.waiting())
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / FILE
    path.write_bytes(msgspec.json.format(msgspec.json.encode({**answer, "seen": seen}), indent=1))
    _print(console, answer, found, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _release(options: argparse.Namespace, target: Target) -> str:
    """The release whose answers are to be written down; empty where none are."""
    name, _, release = (target.server or "").partition("@")
    if options.write and not name.startswith("apache-"):
        raise Usage(
            "rmq-harness fields: --write: expected an Apache server (apache:VERSION), which decides what is "
            f"right; got {target.uri}"
        )
    return release if options.write else ""


def _asked(
    options: argparse.Namespace, target: Target, profile: str, asked: Sequence[Message]
) -> Iterator[tuple[Message, dict[str, dict[str, str]], str]]:
    """Each request with the answers to all its forms, or with why it could not be asked."""
    running: dict[Setup, Instance] = {DEFAULT_SETUP: target.start()}
    try:
        for message in asked:
            setup = owner_of(message)[0].setup
            try:
                instance = running.get(setup) or target.another(setup)
                running[setup] = instance
                if not instance.alive():
                    instance.restart("kill")
                yield message, _cells(options, instance, profile, message), ""
            except Unmet as unmet:
                yield message, {}, f"the ordinary request is not answered as it must be: {unmet.actual}"
            except (Blocked, CaseTimeout, Unsupported) as problem:
                yield message, {}, " ".join(str(problem).split())
    finally:
        for instance in running.values():
            instance.stop()


def _cells(
    options: argparse.Namespace, instance: Instance, profile: str, message: Message
) -> dict[str, dict[str, str]]:
    session = session_of(
        options.role,
        instance,
        profile,
        case=f"fields of {message.code}",
        target=options.target,
        suite=version(),
        deadline=_WITHIN,
    )
    table = field_table(options.role)
    with session:
        request = OrdinaryRequest(session, message)
        found = {"": {"": kind_of(request.again().outcome(silence_is_an_answer=True))}}
        for form in request.forms():
            if not table.is_harmless(message.code, form.field, form.name, profile):
                continue
            outcome = request.in_form(form).outcome(silence_is_an_answer=True)
            found.setdefault(form.field, {})[form.name] = kind_of(outcome)
    return found


def _write(options: argparse.Namespace, profile: str, release: str, seen: Cells) -> None:
    try:
        table = updated(field_table(options.role), profile, release, seen)
    except ValueError as problem:
        raise Usage(f"rmq-harness fields: --write: {problem}; nothing was written") from None
    path = path_of(specs_directory(), options.role)
    head = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line[:1] == "#")
    plain = msgspec.json.decode(msgspec.json.encode(table))
    plain["requests"] = {int(code): asked for code, asked in plain["requests"].items()}
    text = yaml.dump(plain, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    path.write_text(head + text, encoding="utf-8")
    complain(f"written: {path}; field_table reads it at the next start")


def _differences(role: Any, profile: str, asked: Sequence[Message], seen: Cells) -> Iterator[Difference]:
    table = field_table(role)
    names = {one.code: one.name for one in asked}
    for code, fields in seen.items():
        for field, forms in fields.items():
            for form, actual in forms.items():
                expected = table.answer(code, field, form, profile)
                if expected is not None and expected != actual:
                    judged = table.is_judged(code, field, form, profile)
                    yield Difference(code, names[code], field, form, expected, actual, judged)


def _answer(
    options: argparse.Namespace,
    profile: str,
    seen: Cells,
    found: Sequence[Difference],
    unasked: dict[str, str],
    seconds: float,
) -> dict[str, Any]:
    wrong = sum(one.judged for one in found)
    forms = sum(len(forms) for fields in seen.values() for forms in fields.values())
    conclusion = f"{wrong} FORMS ANSWERED OTHERWISE" if wrong else "EVERY FORM ANSWERED AS APACHE DOES"
    status = FAILED if wrong else OK
    if not seen:
        conclusion, status = "NOTHING WAS ASKED", HARNESS_FAILED
    return {
        "conclusion": conclusion,
        "exit_status": status,
        "target": options.target,
        "role": options.role,
        "profile": profile,
        "seconds": round(seconds, 1),
        "requests": len(seen),
        "forms": forms,
        "differences": [msgspec.to_builtins(one) for one in found],
        "not_asked": unasked,
    }


def _print(console: Console, answer: dict[str, Any], found: Sequence[Difference], path: Path) -> None:
    for code in dict.fromkeys(one.code for one in found if one.judged):
        some = [one for one in found if one.code == code and one.judged]
        console.print(f"\n✘ {code} {some[0].request}")
        for field, expected, actual in dict.fromkeys((one.field, one.expected, one.actual) for one in some):
            alike = (field, expected, actual)
            forms = [one.form for one in some if (one.field, one.expected, one.actual) == alike]
            what = f"{field}: {', '.join(forms)}" if field else "the ordinary request, once more"
            console.print(f"  expected {expected}, got {actual}   {what}")
    for why in dict.fromkeys(answer["not_asked"].values()):
        requests = [request for request, reason in answer["not_asked"].items() if reason == why]
        console.print(f"\n– not asked: {', '.join(requests)}\n  {why}")
    left = sum(not one.judged for one in found)
    console.print(
        f"\n{answer['forms']} forms of the fields of {answer['requests']} requests, "
        f"{len(found) - left} answered otherwise than by Apache, {left} more that are not judged, "
        f"{answer['seconds']} s\n{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )
