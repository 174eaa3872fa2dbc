"""`selftest --values`: which kinds of values no case sends in a field of a request or a member of its body.

A server may store text beyond ASCII wrongly, cut numbers to 32 bits, or use a default where it should read a
field. No case notices unless one sends such a value. Looked at are the ext fields of the catalogue, and the
members of bodies that several cases send; the rest is what single cases make up. The cases of the chapter
`fields` do not count: they send each field in every form and look at the response code alone.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue import Message, Role, messages
from harness.cli.bar import Line
from harness.cli.measures.answer import written
from harness.cli.measures.coverage import OWED
from harness.cli.measures.explained import explanations
from harness.cli.measures.lying import every_request
from harness.cli.measures.members import values_in
from harness.cli.measures.scope import all_cases, check_possible
from harness.cli.measures.trying import Work, begin, in_a_fork, results_of
from harness.cli.output import say_json
from harness.cli.status import FAILED, OK
from harness.cli.workers import worker_processes
from harness.session import RunningClock
from harness.wire import Command

KINDS = ("fixed", "not visible", "free", "tested", OWED)
"""Why no case sends such a value: the protocol gives the values · no peer can see what becomes of it · the
catalogue leaves it to the server · another test, which the reason names, sends it · it is a debt.
"""
BEYOND_ASCII, LARGE = "text beyond ASCII", "more than 64 KiB"
TWO_NUMBERS, WIDE, BOTH = "two numbers other than -1, 0 and 1", "a number beyond 32 bits", "true and false"
_ASCII_ONLY = ("text, ip:port",)
"""Types whose text is in ASCII by what it means."""
_WHOLE = re.compile(r"-?\d+\Z")
_64_KIB = 2**16
_SEVERAL = 3
"""Cases. A member of a body that fewer send is one that they make up."""


class Sent(msgspec.Struct):
    """What cases sent in one place: of all that, what the rules ask for."""

    cases: set[str] = msgspec.field(default_factory=set)
    """That send it; no more than several."""
    kinds: dict[str, int] = msgspec.field(default_factory=dict)
    """How often a text, an int, a boolean."""
    is_wide: bool = False
    is_beyond_ascii: bool = False
    numbers: set[int] = msgspec.field(default_factory=set)
    """At most two, of no more than 64 bits, none of them -1, 0 or 1."""
    booleans: set[bool] = msgspec.field(default_factory=set)

    def add(self, case: str, value: str | float | bool) -> None:
        """Remembers a value. Text that reads as a number or a boolean is one, as ext fields have it."""
        if len(self.cases) < _SEVERAL:
            self.cases.add(case)
        if isinstance(value, str) and value in ("true", "false"):
            value = value == "true"
        elif isinstance(value, str) and _WHOLE.match(value):
            value = int(value)
        if isinstance(value, bool):
            kind = "boolean"
            self.booleans.add(value)
        elif isinstance(value, str):
            kind = "text"
            self.is_beyond_ascii |= not value.isascii()
        else:
            kind = "int"
            self.is_wide |= not -(2**31) <= value < 2**31
            if abs(value) > 1 and -(2**63) <= value < 2**64 and len(self.numbers) < 2:
                self.numbers.add(int(value))
        self.kinds[kind] = self.kinds.get(kind, 0) + 1


class Requests(msgspec.Struct):
    """What cases sent in requests of one code: by place, and the longest body."""

    places: dict[str, Sent] = msgspec.field(default_factory=dict)
    longest: int = 0

    def add(self, case: str, command: Command) -> None:
        """Remembers what a case sends."""
        self.longest = max(self.longest, len(command.body))
        for place, value in values_in(command):
            self.places.setdefault(place, Sent()).add(case, value)


Seen = dict[int, Requests]


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    people = sys.stderr if options.json else sys.stdout
    check_possible("--values")
    explained = explanations(options.explained, KINDS)
    lacking = list(never_sent(requests_of(options.role), _measured(options, people)))
    answer = _answer(lacking, explained, stopwatch.waiting())
    path = written(options.out / f"values-{options.role}.json", answer)
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _measured(options: argparse.Namespace, people: TextIO) -> list[Seen]:
    """What the cases send, under each profile."""
    works = all_cases(options.role, options.profile)
    with (
        worker_processes(options.workers, begin) as pool,
        Line(Console(file=people, highlight=False), BarColumn()) as line,
    ):
        running = [pool.submit(sent_by, work) for work in works]
        found: list[Seen] = []
        for number, (work, future) in enumerate(zip(works, running, strict=True), 1):
            found.append(future.result())
            said = f"{work.role} {work.profile}: {len(work.cases)} cases have run, {number} of {len(works)}"
            line.show(said, number, len(works))
            line.log(said)
    return found


def requests_of(role: Role) -> list[Message]:
    """The requests that servers of the role answer."""
    return [one for one in messages().messages if one.role == role and one.owner]


def sent_by(work: Work) -> Seen:
    """What the cases send to the server, in a process of its own."""
    return msgspec.convert(in_a_fork(lambda: _sent_by(work), None), Seen)


def _sent_by(work: Work) -> Seen:
    seen: Seen = {}
    case = [""]

    def watch(command: Command) -> None:
        if not case[0].startswith("fields."):
            seen.setdefault(command.code, Requests()).add(case[0], command)

    every_request(watch)
    for _ in results_of(work, lambda name: case.__setitem__(0, name)):
        pass
    return seen


def never_sent(requests: Sequence[Message], runs: Sequence[Seen]) -> Iterator[str]:
    """What none of the runs sends, as `103 REGISTER_BROKER: ext.__ZONE_NAME: text beyond ASCII`."""
    for one in requests:
        some = [run[one.code] for run in runs if one.code in run]
        types = {f"ext.{member.name}": member.type for member in one.request}
        for place in dict.fromkeys((*types, *(place for each in some for place in each.places))):
            sent = [each.places[place] for each in some if place in each.places]
            if place not in types and not _is_a_member(place, sent):
                continue
            for what in _lacking(types.get(place), sent):
                yield f"{one.code} {one.name}: {place}: {what}"
        if one.request_body and all(each.longest <= _64_KIB for each in some):
            yield f"{one.code} {one.name}: body: {LARGE}"


def _is_a_member(place: str, sent: Sequence[Sent]) -> bool:
    return place.startswith("body") and len({case for one in sent for case in one.cases}) >= _SEVERAL


def _lacking(type_: str | None, sent: Sequence[Sent]) -> Iterator[str]:
    """`type_`: of an ext field; None for a member of a body, whose kind is that of most of its values."""
    numbers = {number for one in sent for number in one.numbers}
    booleans = {word for one in sent for word in one.booleans}
    kinds = sum((Counter(one.kinds) for one in sent), Counter[str]())
    kind = type_ or max(kinds, key=kinds.__getitem__)
    if kind.startswith("text") and kind not in _ASCII_ONLY:
        if not any(one.is_beyond_ascii for one in sent):
            yield BEYOND_ASCII
    elif kind.startswith("boolean"):
        if len(booleans) < 2:
            yield BOTH
    elif kind.startswith("int"):
        if len(numbers) < 2:
            yield TWO_NUMBERS
        if kind.startswith("int64") and not any(one.is_wide for one in sent):
            yield WIDE


def _answer(lacking: Sequence[str], explained: Mapping[str, str], seconds: float) -> dict[str, Any]:
    missed = [name for name in lacking if name not in explained]
    vain = sorted(explained.keys() - set(lacking))
    conclusion = (
        f"{len(missed)} KINDS OF VALUES THAT NO CASE SENDS" if missed else "EVERY KIND SENT OR EXPLAINED"
    )
    return {
        "conclusion": "EXPLANATIONS IN VAIN" if vain and not missed else conclusion,
        "exit_status": FAILED if missed or vain else OK,
        "seconds": round(seconds, 1),
        "explained": len(lacking) - len(missed),
        "missed": missed,
        "explained_in_vain": vain,
    }


def _print(console: Console, answer: Mapping[str, Any], path: Path) -> None:
    for name in answer["missed"]:
        console.print(f"✘ {name}")
    for name in answer["explained_in_vain"]:
        console.print(f"✘ explained, and sent or gone all the same: take it out of the file\n  {name}")
    console.print(
        f"\n{answer['explained']} explained, {len(answer['missed'])} not, {answer['seconds']} s\n"
        f"{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )
