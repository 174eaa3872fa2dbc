"""Cases against mutants: which case notices which fault.

* A case kills a mutant when one of its expectations is not met. A case that is blocked, unsupported or in
  error has noticed nothing.
* Everything runs in virtual time and in processes of its own, so that a mutant cannot harm the one that
  counts.
* `judge_matrix` is pure: from what happened to what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed

import msgspec

from harness.catalogue import Role, catalogue
from harness.cli.workers import worker_processes
from harness.conformance.case_run import Setting
from harness.conformance.loading import LoadedCase, cases
from harness.conformance.running import NOT_STARTED, Runner
from harness.report.results import CaseResult, Verdict
from harness.session import Instance
from harness.targets import parse
from harness.targets.builtin.target import reference_line
from reference_impl.mutants import MUTANTS, mutants_of

_IN_THE_MUTANT = "reference_impl/mutants/"  # in a stack trace: the fault stumbled, the case is not to blame
KILLED = frozenset({Verdict.FAIL, Verdict.DEVIATES, Verdict.OBSERVED})


class Task(msgspec.Struct, frozen=True):
    """Some cases against one server: a mutant, or the sound reference (no mutant)."""

    role: Role
    profile: str
    mutant: str
    cases: tuple[str, ...]
    until_killed: bool = False
    """Whether one kill is enough: the cases behind it do not run."""

    @property
    def target(self) -> str:
        return f"builtin:{self.profile}" + (f"?mutant={self.mutant}" if self.mutant else "")


class Seen(msgspec.Struct, frozen=True):
    """What became of each case of a task; for one that is not met or not sound, one line of why."""

    task: Task
    verdicts: dict[str, Verdict]
    why: dict[str, str]


class Problem(msgspec.Struct, frozen=True):
    """Something that the self-test must not show."""

    kind: str
    what: str
    do: str


def run_tasks(tasks: Sequence[Task], workers: int, done: Callable[[Seen], None]) -> list[Seen]:
    """Runs the tasks in worker processes; `done` is called as each of them ends."""
    if workers == 1 or len(tasks) == 1:
        return [_told(run_task(task), done) for task in tasks]
    seen: list[Seen] = []
    with worker_processes(workers) as pool:
        for future in as_completed([pool.submit(run_task, task) for task in tasks]):
            seen.append(_told(future.result(), done))
    order = {task: number for number, task in enumerate(tasks)}
    return sorted(seen, key=lambda one: order[one.task])


def _told(seen: Seen, done: Callable[[Seen], None]) -> Seen:
    done(seen)
    return seen


def run_task(task: Task) -> Seen:
    """Runs one task in this process."""
    verdicts: dict[str, Verdict] = {}
    why: dict[str, str] = {}
    for name, result, _ in results(task.role, task.target, task.profile, task.cases):
        verdicts[name] = result.verdict
        if result.verdict is Verdict.ERROR and _IN_THE_MUTANT in result.detail:
            verdicts[name] = Verdict.BLOCKED
        if result.verdict is not Verdict.PASS:
            why[name] = result.failure.actual if result.failure else result.reason
        if task.until_killed and verdicts[name] in KILLED:
            break
    return Seen(task, verdicts, why)


def results(
    role: Role,
    uri: str,
    profile: str,
    names: Iterable[str],
    begins: Callable[[str], object] = lambda _: None,
    made: Callable[[Instance], Instance] = lambda one: one,
) -> Iterator[tuple[str, CaseResult, bool]]:
    """Runs cases one after the other on one server, strictly: name, result, and whether the server lives.

    A server that does not start for a case does not live. One that has ended is started again. `begins` is
    called with the name of each case before it runs; `made` with each server that has started.
    """
    target = parse(uri, role)
    instance = made(target.start())
    setting = Setting(catalogue().of(role), profile, uri, role=role, strict=True)
    runner = Runner(setting, instance, lambda setup: made(target.another(setup)))
    by_name = {one.name: one for one in cases(role=role)}
    try:
        for name in names:
            runner.dead = ""  # a mutant that does not answer one case may well answer the next one
            if not instance.alive():
                instance.restart("kill")
            begins(name)
            ends = runner.ended
            result = runner.run(by_name[name])
            has_started = not result.reason.startswith(NOT_STARTED)
            yield name, result, has_started and instance.alive() and runner.ended == ends
    finally:
        instance.stop()


def declared(loaded: Iterable[LoadedCase], role: Role, profile: str, mutant: str) -> tuple[str, ...]:
    """The cases that say they kill the mutant and apply under the profile."""
    of_role = catalogue().of(role)
    return tuple(one.name for one in loaded if mutant in one.case.kills and one.statements(of_role, profile))


def judge_matrix(
    seen: Sequence[Seen], loaded: Sequence[LoadedCase], role: Role, profiles: Sequence[str]
) -> list[Problem]:
    """Everything that is wrong: an unsound reference, a surviving mutant, a case or a declaration in vain."""
    kills = {
        (one.task.profile, one.task.mutant, name)
        for one in seen
        for name, verdict in one.verdicts.items()
        if verdict in KILLED
    }
    return [
        *_unsound(seen),
        *_survivors(seen, kills),
        *_in_vain(loaded, role, profiles, {one.task.mutant for one in seen}, kills),
    ]


def _unsound(seen: Iterable[Seen]) -> Iterator[Problem]:
    for one in seen:
        for name, verdict in one.verdicts.items():
            if not one.task.mutant and verdict is not Verdict.PASS:
                yield Problem(
                    "reference",
                    f"{name} comes to {verdict} on the sound reference {one.task.profile}: {one.why[name]}",
                    "mend the reference or the case",
                )
            elif one.task.mutant and verdict is Verdict.ERROR:
                yield Problem(
                    "error",
                    f"{name} ends in an error against {one.task.target}: {one.why[name]}",
                    "a case must judge whatever a server answers: mend it",
                )


def _survivors(seen: Iterable[Seen], kills: set[tuple[str, str, str]]) -> Iterator[Problem]:
    killed = {(profile, mutant) for profile, mutant, _ in kills}
    for one in seen:
        if one.task.mutant and (one.task.profile, one.task.mutant) not in killed:
            description = MUTANTS[one.task.mutant].description
            yield Problem(
                "survivor",
                f"{one.task.mutant} survives under {one.task.profile}: {description}",
                "write a case that notices, or take the profile from the mutant",
            )


def _in_vain(
    loaded: Iterable[LoadedCase],
    role: Role,
    profiles: Sequence[str],
    mutants: set[str],
    kills: set[tuple[str, str, str]],
) -> Iterator[Problem]:
    known, of_role = mutants_of(role), catalogue().of(role)
    for one in loaded:
        applying = [profile for profile in profiles if one.statements(of_role, profile)]
        meant = [
            name
            for name in one.case.kills
            if name in known and any(reference_line(role, line) in known[name].profiles for line in applying)
        ]
        vain = [
            name
            for name in meant
            if name in mutants and not any((profile, name, one.name) in kills for profile in applying)
        ]
        for name in vain:
            yield Problem(
                "declaration",
                f"{one.name} says that it kills {name}, and does not",
                f"mend the case, or drop the name: {one.case.where}",
            )
        if applying and len(vain) == len(meant):
            do = f"mend it, or write a mutant: {one.case.where}"
            yield Problem("case", f"{one.name} kills nothing", do)
