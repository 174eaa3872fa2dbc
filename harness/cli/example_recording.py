"""Records examples (a request and its answer of each code) and scenes, for maintainers of `specs/examples/`.

The ordinary request of a code is the first of its code in the case that proves the code's owner. A message
that a server sends is taken from wherever such a case brings it about, or else from the first case of its
chapter that does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec
import yaml

from harness.catalogue import Message, Role, catalogue, messages
from harness.catalogue.examples import Example, ExampleFrame, Examples, examples, path_of
from harness.catalogue.scenes import Scene, scenes
from harness.cli.output import complain
from harness.conformance.asking_fields import case_proving, owner_of
from harness.conformance.case import Case
from harness.conformance.sessions import session_of
from harness.report.commands import Commands, Told
from harness.session import DEFAULT_SETUP, Instance, Session, Setup
from harness.session.errors import Blocked, CaseTimeout, Unmet, Unsupported
from harness.targets import Target
from harness.trace import Trace, write_trace
from harness.version import version

_WITHIN = 60.0
"""Real seconds for the case of one code."""
_LONGEST = 4096
"""Bytes of a body that is no text: longer ones explain nothing."""
_SERIALIZED_AS_JSON = 0


def record(target: Target, role: Role, profile: str, codes: Collection[int]) -> dict[int, Example]:
    """The exchanges of these codes, or of all; says why one is missing.

    Raises TargetError if no server starts.
    """
    owned = {one.code for one in messages().messages if one.owner}
    found: dict[int, Example] = {}
    for message, trace in _traces(target, role, profile, codes):
        for code, example in _exchanges(trace).items():
            if code == message.code or code not in owned:
                found[code] = example
    return found


def record_scenes(target: Target, role: Role, profile: str) -> list[Scene]:
    """Plays the scenes of the role and writes their traces; says why one is missing."""
    recorded = []
    for scene in scenes():
        if scene.role != role:
            continue
        case, play = case_proving(scene.statement)
        instance = target.start() if case.setup == DEFAULT_SETUP else target.another(case.setup)
        try:
            write_trace(scene.trace, _played(instance, role, profile, target.uri, scene.name, play))
            recorded.append(scene)
        except (Blocked, CaseTimeout, Unmet, Unsupported) as problem:
            complain(f"{scene.name}: {' '.join(str(problem).split())}")
        finally:
            instance.stop()
    return recorded


def write(found: dict[int, Example], role: Role, release: str) -> None:
    """Adds them to the file of the role, in the place of those that it has; the others stay."""
    of_role = {one.code for one in messages().of(role)}
    known = examples(role).examples | {code: one for code, one in found.items() if code in of_role}
    plain = msgspec.to_builtins(Examples(release, dict(sorted(known.items()))))
    path_of(role).parent.mkdir(exist_ok=True)
    text = yaml.dump(plain, sort_keys=False, allow_unicode=True, width=120)
    path_of(role).write_text(_HEAD + text, encoding="utf-8")


_HEAD = "# Recorded by rmq-harness docs --record, not written by hand.\n"


def _traces(
    target: Target, role: Role, profile: str, codes: Collection[int]
) -> Iterator[tuple[Message, Trace]]:
    """What each case exchanged with the server."""
    running: dict[Setup, Instance] = {DEFAULT_SETUP: target.start()}
    try:
        for message in messages().of(role):
            asked = not codes or message.code in codes
            if not asked or (message.profiles and profile not in message.profiles):
                continue
            for case, play in _showing(message, profile):
                setup = case.setup
                try:
                    running[setup] = running.get(setup) or target.another(setup)
                    if role == "nameserver":  # so that its lists show nothing of other examples
                        running[setup].restart("kill")
                    trace = _played(running[setup], role, profile, target.uri, str(message.code), play)
                except (Blocked, CaseTimeout, Unmet, Unsupported) as problem:
                    complain(f"{message.code} {message.name}: {' '.join(str(problem).split())}")
                    continue
                yield message, trace
                if message.code in _exchanges(trace):
                    break
    finally:
        for instance in running.values():
            instance.stop()


def _showing(message: Message, profile: str) -> Iterator[tuple[Case, Callable[[Session], object]]]:
    """The cases that may show a message."""
    if message.owner is not None:
        yield owner_of(message)
    elif message.sent and message.chapter is not None:
        for statement in catalogue().statements:
            if statement.chapter == message.chapter and profile in statement.profiles:
                yield case_proving(statement.id)


def _played(
    instance: Instance, role: Role, profile: str, uri: str, name: str, play: Callable[[Session], object]
) -> Trace:
    """What a case exchanges with a server. Its name decides the names in it."""
    with session_of(
        role, instance, profile, case=name, target=uri, suite=version(), deadline=_WITHIN, seed=name
    ) as session:
        play(session)
    return session.trace


def _exchanges(trace: Trace) -> dict[int, Example]:
    """The first request of each code with a JSON header, and its answer."""
    commands = Commands(all_speak=True)
    told = [one for event in trace.events for one in commands.add(event) if isinstance(one, Told)]
    answers = {one.answers: one for one in told if one.answers is not None}
    found: dict[int, Example] = {}
    for one in told:
        request, answer = _frame(one), answers.get(one.number)
        if request is None or one.answers is not None or one.asked is None or one.asked in found:
            continue
        found[one.asked] = Example(request, None if answer is None else _frame(answer))
    return found


def _frame(told: Told) -> ExampleFrame | None:
    command = told.command
    if command is None or command.serialization != _SERIALIZED_AS_JSON or len(command.body) > _LONGEST:
        return None
    end = len(told.frame) - len(command.body)
    header = told.frame[8:end].decode()
    try:
        text = command.body.decode()
    except UnicodeDecodeError:
        return ExampleFrame(header, hex=command.body.hex())
    readable = text.isprintable() or text.startswith(("{", "["))
    return ExampleFrame(header, body=text) if readable else ExampleFrame(header, hex=command.body.hex())
