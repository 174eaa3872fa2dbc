"""From what happens in a case to its verdict, on the built-in reference and on instances that fail."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_samples import (
    QUERY,
    Body,
    catalogue,
    catalogue_of_releases,
    forgotten,
    loaded,
    met,
    raising,
    run,
    runner,
    tolerated,
    unmet,
)

from harness.catalogue import Level
from harness.conformance import Closed, Reply
from harness.conformance.case_run import Setting, reproduction
from harness.conformance.running import Runner
from harness.report.results import CaseResult, Verdict
from harness.session import (
    Blocked,
    CaseTimeout,
    NameServerSession,
    TargetDied,
    TooLate,
    Unsupported,
)
from harness.targets import TargetError, parse
from harness.trace import read_trace


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


def test_a_tolerated_alternative_carries_all_the_facts_of_a_failure(tmp_path: Path) -> None:
    result = run(tolerated, out=tmp_path)
    failure = result.failure
    assert failure is not None
    assert failure.allowed
    assert result.reason == "allowed, but not what Apache's server does"
    assert failure.expected == "the target closes the connection, without a reply"
    assert failure.actual.startswith("reply SUCCESS (0)")
    assert failure.sent is not None
    assert failure.sent.request == "206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER"
    assert failure.trace == "traces/kv.function.trace"
    assert not result.is_broken


def test_the_first_of_several_tolerated_answers_is_shown() -> None:
    def twice(ns: NameServerSession) -> None:
        tolerated(ns)
        tolerated(ns)

    reason = run(twice).reason
    assert reason == "allowed, but not what Apache's server does (the first of 2 such answers)"


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
            raise TooLate("the answer came after the term")

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


def test_what_settings_do_not_bring_is_looked_for_once() -> None:
    """Other cases with these settings have no server started for them; those with other settings have."""
    waits = {"needWaitForService": "true"}
    starts: list[object] = []
    target = parse("builtin:5.3")

    def start(setup: Any) -> Any:
        starts.append(setup)
        return target.another(setup)

    def lacking(_: NameServerSession) -> None:
        raise Unsupported("no such thing", of_setup=True)

    running = Runner(Setting(catalogue("MUST"), "5.3", "builtin:5.3"), target.start(), start)
    more = {**waits, "waitSecondsForService": "1"}
    setups = (waits, waits, more, {"supportActingMaster": "true"})
    bodies = (lacking, met, met, met)
    results = [
        running.run(loaded(body, own_server=True, setup=setup))
        for body, setup in zip(bodies, setups, strict=True)
    ]
    running.close()
    assert [one.verdict for one in results] == [Verdict.UNSUPPORTED] * 3 + [Verdict.PASS]
    assert {one.reason for one in results[:3]} == {"no such thing"}
    assert len(starts) == 2


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


def test_what_builds_on_something_that_came_later_is_not_tried() -> None:
    known = catalogue_of_releases(came=("5.1.4",))
    target = parse("builtin:5.3")
    one = loaded(unmet, "sanity", "wire.sanity.answers", builds_on="ns.kv.something")
    for release, verdict in (("5.0.0", Verdict.LATER), ("5.1.4", Verdict.FAIL)):
        setting = Setting(known, "5.3", "builtin:5.3", release=release)
        result = Runner(setting, target.start(), target.another).run(one)
        assert result.verdict is verdict


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
