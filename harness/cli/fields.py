"""`fields`: what a server makes of unusual ext fields and members of bodies, beside Apache's servers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue import Message, Role, messages
from harness.catalogue.fields import field_table, path_of, requests_with_fields
from harness.cli import field_recording
from harness.cli.asked import profile_of, target_of
from harness.cli.bar import LOG_EVERY, Line
from harness.cli.field_recording import Cells
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.sessions import session_of
from harness.report.text import plural
from harness.session import DEFAULT_SETUP, Instance, RunningClock, Setup
from harness.session.errors import Blocked, CaseTimeout, Unmet, Unsupported
from harness.session.outcome import kind_of
from harness.targets import Target
from harness.version import version

FILE = "fields.json"
_WITHIN = 300.0
"""Real seconds for all forms of one request: a server that answers none costs each its whole wait."""


class Difference(msgspec.Struct, frozen=True):
    """A form that the server does not answer as Apache's does. `judged`: whether that is wrong."""

    code: int
    request: str
    field: str
    form: str
    expected: str
    actual: str
    judged: bool


class _Run:
    """The requests that are asked, one after the other, and what came of them."""

    def __init__(self, target: Target, role: Role, profile: str) -> None:
        self.role: Role = role
        self.profile = profile
        self.asked = list(requests_with_fields(messages().of(role), profile))
        self.seen: dict[int, dict[str, dict[str, str]]] = {}
        self.not_asked: dict[str, str] = {}
        """Request -> why."""
        self._target = target

    def requests(self) -> Iterator[Message]:
        """Sends each request in all its forms, and yields it. Raises TargetError if no server starts."""
        running: dict[Setup, Instance] = {DEFAULT_SETUP: self._target.start()}
        try:
            for message in self.asked:
                setup = owner_of(message)[0].setup
                try:
                    instance = running.get(setup) or self._target.another(setup)
                    running[setup] = instance
                    if not instance.alive():
                        instance.restart("kill")
                    self.seen[message.code] = self._cells(instance, message)
                except Unmet as unmet:
                    why = f"the ordinary request is not answered as it must be: {unmet.actual}"
                    self.not_asked[f"{message.code} {message.name}"] = why
                except (Blocked, CaseTimeout, Unsupported) as problem:
                    self.not_asked[f"{message.code} {message.name}"] = " ".join(str(problem).split())
                yield message
        finally:
            for instance in running.values():
                instance.stop()

    def _cells(self, instance: Instance, message: Message) -> dict[str, dict[str, str]]:
        session = session_of(
            self.role,
            instance,
            self.profile,
            case=f"fields of {message.code}",
            target=self._target.uri,
            suite=version(),
            deadline=_WITHIN,
        )
        table = field_table(self.role)
        with session:
            request = OrdinaryRequest(session, message)
            found = {"": {"": kind_of(request.again().outcome(silence_is_an_answer=True))}}
            for form in chain(request.forms_of_fields(), request.forms_of_members()):
                if table.is_harmless(message.code, form.field, form.name, self.profile):
                    outcome = request.in_form(form).outcome(silence_is_an_answer=True)
                    found.setdefault(form.field, {})[form.name] = kind_of(outcome)
        return found

    def differences(self) -> Iterator[Difference]:
        """What the server answers otherwise than the table says."""
        table, names = field_table(self.role), {one.code: one.name for one in self.asked}
        for code, fields in self.seen.items():
            for field, forms in fields.items():
                for form, actual in forms.items():
                    expected = table.answer(code, field, form, self.profile)
                    if expected is not None and expected != actual:
                        judged = table.is_judged(code, field, form, self.profile)
                        yield Difference(code, names[code], field, form, expected, actual, judged)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    target = target_of("fields", options.target, options, options.role)
    profile = profile_of("fields", options.profile, target, options.role)
    release = _release(options, target)
    people = sys.stderr if options.json else sys.stdout
    asking = _Run(target, options.role, profile)
    interrupted = False
    try:
        _ask(asking, people)
    except KeyboardInterrupt:
        interrupted = True
    found = list(asking.differences())
    if release and not interrupted:
        _write(asking, release)
    answer = {
        **_concluded(asking, found, written=bool(release), interrupted=interrupted),
        "target": options.target,
        "role": options.role,
        "profile": profile,
        "seconds": round(stopwatch.waiting(), 1),
        "requests": len(asking.seen),
        "forms": _forms(asking.seen),
        "differences": [msgspec.to_builtins(one) for one in found],
        "not_asked": asking.not_asked,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / FILE
    path.write_bytes(msgspec.json.format(msgspec.json.encode({**answer, "seen": asking.seen}), indent=1))
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, found, path)
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


def _ask(asking: _Run, people: Any) -> None:
    stopwatch, logged = RunningClock(), 0.0
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        for number, _ in enumerate(asking.requests(), 1):
            said = f"{number} of {len(asking.asked)} requests"
            line.show(said, number, len(asking.asked))
            if stopwatch.waiting() - logged >= LOG_EVERY:
                logged = stopwatch.waiting()
                line.log(said)


def _write(asking: _Run, release: str) -> None:
    known = field_table(asking.role)
    try:
        table = field_recording.updated(known, asking.profile, release, asking.seen)
    except ValueError as problem:
        raise Usage(f"rmq-harness fields: --write: {problem}; nothing was written") from None
    field_recording.write(table, asking.role)


def _forms(seen: Cells) -> int:
    return sum(len(forms) for fields in seen.values() for forms in fields.values())


def _concluded(
    asking: _Run, found: Sequence[Difference], *, written: bool, interrupted: bool
) -> dict[str, Any]:
    """The conclusion in words, and the exit status."""
    wrong = sum(one.judged for one in found)
    conclusion, status = "EVERY FORM ANSWERED AS APACHE DOES", OK
    if interrupted:
        conclusion, status = "INTERRUPTED", INTERRUPTED
    elif not asking.seen:
        conclusion, status = "NOTHING WAS ASKED", HARNESS_FAILED
    elif written:
        conclusion = f"WRITTEN TO {path_of(asking.role)}, {plural(len(found), 'answer').upper()} CHANGED"
    elif wrong:
        conclusion, status = f"{plural(wrong, 'form').upper()} ANSWERED OTHERWISE", FAILED
    elif asking.not_asked:
        conclusion, status = f"{plural(len(asking.not_asked), 'request').upper()} NOT ASKED", INCONCLUSIVE
    return {"conclusion": conclusion, "exit_status": status}


def _print(console: Console, answer: Mapping[str, Any], found: Sequence[Difference], path: Path) -> None:
    for code in dict.fromkeys(one.code for one in found if one.judged):
        some = [one for one in found if one.code == code and one.judged]
        console.print(f"\n✘ {code} {some[0].request}")
        for alike in dict.fromkeys((one.field, one.expected, one.actual) for one in some):
            field, expected, actual = alike
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
