"""From what happens in a case to its verdict, on the built-in reference and on instances that fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conformance_samples import module

from harness.catalogue import Catalogue, Level, Profile, Report, Source, Statement
from harness.conformance import AnyOf, Closed, Reply, case
from harness.conformance.case_run import Setting, reproduction
from harness.conformance.loading import LoadedCase, cases
from harness.conformance.running import Runner
from harness.report.results import CaseResult, Verdict
from harness.session import (
    Blocked,
    CaseTimeout,
    NameServerSession,
    RunningClock,
    TargetDied,
    TooLate,
    Unsupported,
)
from harness.targets import Shareable, TargetError, parse
from harness.trace import read_trace
from harness.wire import RequestCode

QUERY = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
Body = Callable[[NameServerSession], Any]


def catalogue(level: Level) -> Catalogue:
    one = Statement(
        id="ns.kv.something",
        chapter="kv",
        level=level,
        profiles=("5.3",),
        text="Something MUST hold.",
        stimulus="x",
        observable="y",
        source=(Source("tag", "path/Class.java", "method"),),
        observed=("5.3.3",),
    )
    last = Statement(
        id="wire.endurance.lives",
        chapter="endurance",
        level="MUST",
        profiles=("5.3",),
        text="It MUST live.",
        stimulus="x",
        observable="y",
        source=one.source,
    )
    first = msgspec.structs.replace(last, id="wire.sanity.answers", chapter="sanity")
    return Catalogue((one, first, last), (Profile(name="5.3", title="t", reference="5.3.3", text="x"),), "d")


def catalogue_of_releases(**members: Any) -> Catalogue:
    """The catalogue whose first statement has these members, with a report that 5.1.2 mended."""
    known = catalogue("MUST")
    first = msgspec.structs.replace(known.statements[0], **members)
    report = Report(title="It does not hold.", issues=("apache/rocketmq#1",), fixed=("5.1.2",))
    return msgspec.structs.replace(known, statements=(first, *known.statements[1:]), reports=(report,))


def loaded(body: Body, chapter: str = "kv", identifier: str = "ns.kv.something", **more: Any) -> LoadedCase:
    def test_function(ns: NameServerSession) -> None:
        """Something holds."""
        body(ns)

    declared = case(identifier, kills=["m"], **more)(test_function)
    return cases([module(chapter, test_function=declared)])[0]


def runner(level: Level = "MUST", instance: Shareable | None = None, **setting: Any) -> Runner:
    target = parse("builtin:5.3")
    made = Setting(catalogue(level), "5.3", "builtin:5.3", **setting)
    return Runner(made, instance or target.start(), target.another)


def run(body: Body, level: Level = "MUST", **setting: Any) -> CaseResult:
    return runner(level, **setting).run(loaded(body))


def met(ns: NameServerSession) -> None:
    ns.call(QUERY) >> Reply(0)


def unmet(ns: NameServerSession) -> None:
    ns.call(QUERY) >> Reply(17)


def tolerated(ns: NameServerSession) -> None:
    ns.call(QUERY) >> AnyOf(Closed(), deviates=[Reply(0)])


def forgotten(ns: NameServerSession) -> None:
    ns.call(QUERY)


def raising(error: BaseException) -> Body:
    def body(ns: NameServerSession) -> None:
        raise error

    return body


@pytest.mark.parametrize(
    ("body", "level", "strict", "verdict"),
    [
        (met, "MUST", False, Verdict.PASS),
        (unmet, "MUST", False, Verdict.FAIL),
        (unmet, "SHOULD", False, Verdict.DEVIATES),
        (unmet, "SHOULD", True, Verdict.FAIL),
        (unmet, "MAY", True, Verdict.OBSERVED),
        (tolerated, "MUST", False, Verdict.DEVIATES),
        (forgotten, "MUST", False, Verdict.ERROR),
        (raising(Unsupported("no")), "MUST", False, Verdict.UNSUPPORTED),
        (raising(Blocked("no")), "MUST", False, Verdict.BLOCKED),
        (raising(CaseTimeout("no")), "MUST", False, Verdict.BLOCKED),
        (raising(ZeroDivisionError("x")), "MUST", False, Verdict.ERROR),
        (raising(AssertionError("x")), "MUST", False, Verdict.ERROR),
        (raising(SystemExit(0)), "MUST", False, Verdict.ERROR),
    ],
)
def test_verdicts(body: Body, level: Level, strict: bool, verdict: Verdict) -> None:
    result = run(body, level, strict=strict)
    assert result.verdict is verdict
    assert result.level == level
    assert (result.case, result.chapter, result.statements) == ("kv.function", "kv", ("ns.kv.something",))


def test_a_failure_carries_all_its_facts(tmp_path: Path) -> None:
    result = run(unmet, out=tmp_path)
    failure = result.failure
    assert failure is not None
    assert failure.statement == "ns.kv.something"
    assert failure.expected == "reply TOPIC_NOT_EXIST (17)"
    assert failure.actual.startswith("reply SUCCESS (0)")
    assert failure.source == ("Class#method (tag)",)
    assert failure.observed == ("5.3.3",)
    assert bytes.fromhex(failure.frame_hex)[failure.start : failure.end] == b"0"
    assert [field.name for field in failure.fields if field.decisive] == ["code"]
    assert failure.replay == "rmq-harness check builtin:5.3 --profile 5.3 --select ns.kv.something"
    assert failure.trace == result.trace == "traces/kv.function.trace"
    trace = read_trace(tmp_path / "traces" / "kv.function.trace")
    assert trace.header.case == "kv.function"
    assert failure.frame_no is not None
    assert trace.events[failure.frame_no]


def test_an_error_tells_what_and_keeps_the_stack_trace_apart() -> None:
    result = run(raising(ZeroDivisionError("by zero")))
    assert result.reason == "ZeroDivisionError: by zero"
    assert "Traceback" in result.detail


def test_a_tolerated_alternative_is_named() -> None:
    assert "reply SUCCESS (0)" in run(tolerated).reason


def test_nothing_is_written_without_a_place() -> None:
    result = run(unmet)
    assert result.trace is None


def test_a_case_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conformance.case_run.GIVEN_UP", 0.1)
    release = threading.Event()
    result = run(lambda _: release.wait(30), deadline=0.1)
    release.set()
    assert result.verdict is Verdict.BLOCKED
    assert "did not end" in result.reason


class Gone:
    """An instance that has stopped to take connections."""

    def __init__(self, *, alive: bool) -> None:
        self._instance = parse("builtin:5.3").start()
        self._alive = alive
        self.clock = self._instance.clock
        self.description = "gone"
        self.log = None

    def open(self) -> Any:
        raise TargetDied("connection refused")

    def alive(self) -> bool:
        return self._alive

    def restart(self, how: str = "term") -> None:
        raise Unsupported("others run it")

    def stop(self) -> None:
        pass


def test_a_dead_target_blocks_what_comes_after_at_once() -> None:
    gone: Any = Gone(alive=False)
    running = runner(instance=gone)
    first, second = running.run(loaded(met)), running.run(loaded(met))
    assert first.verdict is second.verdict is Verdict.BLOCKED
    assert first.reason == "connection refused"
    assert second.reason == f"the target had gone in {first.case}: connection refused"


def test_a_target_that_refuses_once_is_not_given_up() -> None:
    gone: Any = Gone(alive=True)
    running = runner(instance=gone)
    running.run(loaded(met))
    assert not running.dead


def test_the_last_case_fails_where_the_target_has_died() -> None:
    gone: Any = Gone(alive=False)
    running = runner(instance=gone)
    running.run(loaded(met))
    last = running.run(loaded(met, "endurance", "wire.endurance.lives"))
    assert last.verdict is Verdict.FAIL


def test_a_case_that_came_too_late_is_tried_again() -> None:
    tries: list[int] = []

    def late(ns: NameServerSession) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise TooLate("the machine is too slow for this warp")

    assert run(late).verdict is Verdict.PASS
    assert len(tries) == 3
    assert run(raising(TooLate("always"))).verdict is Verdict.BLOCKED


class Writing:
    """The built-in target, with a log that a test writes."""

    def __init__(self, log: Path) -> None:
        self._instance = parse("builtin:5.3").start()
        self.log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)


def test_what_the_server_wrote_meanwhile_stands_beside_a_failure(tmp_path: Path) -> None:
    log = tmp_path / "target.log"
    log.write_text("started\n")

    def with_words(case: Callable[[NameServerSession], None]) -> CaseResult:
        def said(ns: NameServerSession) -> None:
            with log.open("a") as file:
                file.write("panic: nil map\n")
            case(ns)

        instance: Any = Writing(log)
        return runner(instance=instance).run(loaded(said))

    assert with_words(unmet).log == ("panic: nil map",)
    assert with_words(met).log == ()


class InRunningTime:
    """The built-in target, in time that runs by itself."""

    def __init__(self, warp: float = 1.0) -> None:
        self._instance = parse("builtin:5.3").start()
        self.clock = RunningClock(warp)
        self.description = "running"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)


class Busy:
    """Two cases that begin together. One fails, or is too late, at first; the other ends once that was tried
    three times, or after ``patience`` seconds.
    """

    def __init__(self, patience: float, *, late: bool = False) -> None:
        self.beside: dict[str, list[frozenset[str]]] = {"failing": [], "long": []}
        self._now: set[str] = set()
        self._patience = patience
        self._late = late
        self._both = threading.Barrier(2, timeout=10)
        self._tried = threading.Event()

    def run(self, warp: float) -> list[CaseResult]:
        instance: Any = InRunningTime(warp)
        running = runner(instance=instance)
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(running.run, [loaded(self._failing), loaded(self._long)]))

    def _failing(self, ns: NameServerSession) -> None:
        with self._going_on("failing") as tries:
            if tries == 3:
                self._tried.set()
            if tries > 1:
                met(ns)
            elif self._late:
                raise TooLate("the machine is too slow")
            else:
                unmet(ns)

    def _long(self, ns: NameServerSession) -> None:
        with self._going_on("long"):
            self._tried.wait(self._patience)
            met(ns)

    @contextmanager
    def _going_on(self, name: str) -> Generator[int]:
        seen = self.beside[name]
        self._now.add(name)
        if not seen:
            self._both.wait()
        seen.append(frozenset(self._now - {name}))
        if len(seen) == 1:
            self._both.wait()
        try:
            yield len(seen)
        finally:
            self._now.discard(name)


@pytest.mark.parametrize("late", [False, True])
def test_in_warped_time_a_case_is_tried_again_while_nothing_else_goes_on(late: bool) -> None:
    busy = Busy(patience=0.3, late=late)
    results = busy.run(warp=60)
    assert [one.verdict for one in results] == [Verdict.PASS if late else Verdict.FLAKY, Verdict.PASS]
    first, *again = busy.beside["failing"]
    assert first == {"long"}
    assert again == ([frozenset()] if late else [frozenset(), frozenset()])


def test_in_real_time_it_is_tried_again_beside_those_that_wait() -> None:
    busy = Busy(patience=10)
    busy.run(warp=1)
    assert busy.beside["failing"] == [{"long"}, {"long"}, {"long"}]


def failing_in(*tries: int) -> tuple[Callable[[NameServerSession], None], list[int]]:
    made: list[int] = []

    def case(ns: NameServerSession) -> None:
        made.append(len(made) + 1)
        (unmet if made[-1] in tries else met)(ns)

    return case, made


@pytest.mark.parametrize(
    ("tries", "verdict", "runs"),
    [
        ((1, 2, 3), Verdict.FAIL, 2),
        ((1,), Verdict.FLAKY, 3),
        ((1, 3), Verdict.FLAKY, 3),
        ((2,), Verdict.PASS, 1),
    ],
)
def test_a_failure_in_running_time_must_happen_twice(
    tries: tuple[int, ...], verdict: Verdict, runs: int
) -> None:
    instance: Any = InRunningTime()
    case, made = failing_in(*tries)
    result = runner(instance=instance).run(loaded(case))
    assert (result.verdict, len(made)) == (verdict, runs)
    assert (f"failed in {len(tries)} of 3 tries" in result.reason) == (verdict is Verdict.FLAKY)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        (("fails", "blocked", "blocked"), Verdict.FAIL),
        (("fails", "blocked", "fails"), Verdict.FAIL),
        (("fails", "blocked", "holds"), Verdict.FLAKY),
        (("fails", "holds", "blocked"), Verdict.FLAKY),
    ],
)
def test_a_failure_stays_one_where_it_cannot_be_measured_again(
    tries: tuple[str, ...], verdict: Verdict
) -> None:
    instance: Any = InRunningTime()
    left = list(tries)

    def case(ns: NameServerSession) -> None:
        match left.pop(0):
            case "fails":
                unmet(ns)
            case "holds":
                met(ns)
            case _:
                raise Blocked("somebody else is there")

    assert runner(instance=instance).run(loaded(case)).verdict is verdict
    assert left == []


def test_a_target_that_does_not_end_or_start_again_blocks_its_case() -> None:
    result = run(raising(TargetError(expected="an end", got="none", do="end")))
    assert (result.verdict, result.reason) == (Verdict.BLOCKED, "expected an end; got none; do end")


@pytest.mark.parametrize(
    ("expectation", "verdict"), [(Closed(), Verdict.BLOCKED), (Reply(17), Verdict.ERROR)]
)
def test_a_first_case_without_an_answer_blocks_all_others(expectation: Any, verdict: Verdict) -> None:
    running = runner(instance=parse("builtin:5.3?mutant=topic-list-is-not-answered").start())
    if isinstance(expectation, Reply):
        running = runner()

    def first(ns: NameServerSession) -> None:
        ns.call(QUERY) >> expectation

    sanity = running.run(loaded(first, "sanity", "wire.sanity.answers"))
    assert sanity.verdict is Verdict.FAIL
    result = running.run(loaded(raising(ZeroDivisionError("ran"))))
    assert result.verdict is verdict
    assert result.blocked_by == ("wire.sanity.answers" if verdict is Verdict.BLOCKED else "")


def test_a_case_with_its_own_server_gets_a_fresh_one() -> None:
    descriptions: list[int] = []
    running = runner()
    running.run(loaded(lambda ns: descriptions.append(id(ns.clock)), own_server=True))
    running.run(loaded(lambda ns: descriptions.append(id(ns.clock))))
    assert descriptions[0] != descriptions[1]


def test_cases_of_the_same_setup_share_a_server_that_is_started_so() -> None:
    waiting = {"needWaitForService": "true", "waitSecondsForService": "9"}
    seen: dict[str, list[int]] = {"plain": [], "waiting": []}

    def look(ns: NameServerSession) -> None:
        ready = ns.route("T").outcome().command.remark != "name server not ready"  # type: ignore[union-attr]
        seen["plain" if ready else "waiting"].append(id(ns.clock))

    running = runner()
    for setup in (None, waiting, None, waiting):
        assert running.run(loaded(look, setup=setup)).verdict is Verdict.PASS
    running.run(loaded(look, setup=waiting, own_server=True))
    running.close()
    plain, (first, second, own) = seen["plain"], seen["waiting"]
    assert plain[0] == plain[1]
    assert first == second
    assert len({plain[0], first, own}) == 3


def test_where_no_second_server_can_be_started_the_case_is_not_measured() -> None:
    def refuse(_: object) -> Any:
        raise Unsupported("the server is not ours to start")

    running = Runner(Setting(catalogue("MUST"), "5.3", "tcp://h:1"), parse("builtin:5.3").start(), refuse)
    result = running.run(loaded(met, own_server=True))
    assert (result.verdict, result.reason) == (Verdict.UNSUPPORTED, "the server is not ours to start")


def test_a_command_line_can_be_pasted() -> None:
    setting = Setting(catalogue("MUST"), "5.3", "exec:./ns --port {port}")
    line = reproduction(setting, "ns.kv.something")
    assert line == "rmq-harness check 'exec:./ns --port {port}' --profile 5.3 --select ns.kv.something"


def on_release(release: str, body: Body, **members: Any) -> CaseResult:
    target = parse("builtin:5.3")
    setting = Setting(catalogue_of_releases(**members), "5.3", "builtin:5.3", release=release)
    return Runner(setting, target.start(), target.another).run(loaded(body))


def test_what_came_with_a_later_release_is_not_tried() -> None:
    tried: list[object] = []
    older = on_release("5.0.0", tried.append, came=("5.1.4",))
    assert (older.verdict, older.reason) == (Verdict.LATER, "not in this release: came with 5.1.4")
    assert older.failure is None
    assert not tried
    assert on_release("5.1.4", unmet, came=("5.1.4",)).verdict is Verdict.FAIL
    assert on_release("", unmet, came=("5.1.4",)).verdict is Verdict.FAIL


def test_a_failure_that_a_later_release_mends_names_it() -> None:
    issues = {"issues": ("apache/rocketmq#1",)}
    older = on_release("5.1.1", unmet, **issues)
    assert older.verdict is Verdict.FAIL
    assert older.failure is not None
    assert [str(one) for one in older.failure.fixes] == ["5.1.2 (apache/rocketmq#1)"]
    for release in ("5.1.2", ""):
        failure = on_release(release, unmet, **issues).failure
        assert failure is not None
        assert failure.fixes == ()


def test_cases_that_change_settings_take_turns() -> None:
    """A thread of a waiting case may try an owner while the main one runs another case on the same server."""
    meeting, met_there = threading.Barrier(2), list[bool]()

    def body(ns: NameServerSession) -> None:
        try:
            meeting.wait(0.2)
            met_there.append(True)
        except threading.BrokenBarrierError:
            met_there.append(False)
        met(ns)

    running = runner()
    one = loaded(body, apart=True)
    with ThreadPoolExecutor(2) as threads:
        verdicts = [result.verdict for result in threads.map(running.run, [one, one])]
    running.close()
    assert (verdicts, met_there) == ([Verdict.PASS, Verdict.PASS], [False, False])
