"""A server that does not come back, or dies in a case that has it alone, fails the case. One that dies at all
fails the last case, too.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from test_conformance_running import QUERY, catalogue, loaded, met

from harness.conformance import Reply
from harness.conformance.case_run import Setting
from harness.conformance.running import Runner
from harness.report.results import CaseResult, Verdict
from harness.session import NameServerSession
from harness.targets import TargetError, parse


class Unrevived:
    """A server that does not come back when it is stopped; its own because another runs the cases."""

    def __init__(self) -> None:
        self._sound = parse("builtin:5.3").another()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sound, name)

    def restart(self, how: str = "term") -> None:
        raise TargetError(expected="a server that starts", got="its own file refused", do="mend it")


def on_another(instance: Any) -> Runner:
    """A runner whose further servers are this one."""
    setting = Setting(catalogue("MUST"), "5.3", "builtin:5.3")
    return Runner(setting, parse("builtin:5.3").start(), lambda _: instance)


def dies(result: CaseResult, name: str) -> bool:
    """Whether a case fails because its server ends, which breaks a MUST whatever the case is about."""
    assert result.failure is not None
    assert (result.failure.expected, result.ended_in) == ("the target lives", (name,))
    return result.verdict is Verdict.FAIL


def test_a_server_that_does_not_start_again_fails_the_case() -> None:
    result = on_another(Unrevived()).run(loaded(lambda ns: ns.restart(), own_server=True))
    assert result.verdict is Verdict.FAIL
    assert result.failure is not None
    assert result.failure.expected == "the target starts again"
    assert "its own file refused" in result.failure.actual


def test_the_last_case_judges_the_deaths_of_servers_of_single_cases() -> None:
    instance = parse("builtin:5.3").another()

    def deadly(ns: NameServerSession) -> None:
        instance.stop()
        ns.call(QUERY, on=ns.connect()) >> Reply(0)

    runs = on_another(instance)
    assert dies(runs.run(loaded(deadly, own_server=True)), "kv.function")
    last = runs.run(loaded(met, "endurance", "wire.endurance.lives"))
    assert last.verdict is Verdict.FAIL
    assert "the target had gone in kv.function" in last.reason
    assert last.ended_in == ("kv.function",)


def judging(main: Any) -> Runner:
    """A runner that tries failures again on fresh servers."""
    setting = Setting(catalogue("MUST"), "5.3", "builtin:5.3", fresh=True)
    return Runner(setting, main, lambda _: parse("builtin:5.3").another())


def deadly(ns: NameServerSession) -> None:
    """Ends whatever server it runs on."""
    ns._instance.stop()
    ns.call(QUERY, on=ns.connect()) >> Reply(0)


def named(function: Any, name: str) -> Any:
    return replace(loaded(function), name=name)


def test_a_case_that_finds_the_server_ended_is_not_blamed() -> None:
    main = parse("builtin:5.3").start()
    runs = judging(main)
    main.stop()
    assert runs.run(named(met, "kv.harmless")).verdict is Verdict.PASS
    last = runs.run(loaded(met, "endurance", "wire.endurance.lives"))
    assert last.verdict is Verdict.FAIL
    assert last.ended_in == ()
    assert last.reason.startswith("the target had gone during kv.harmless, but lives through each alone")


def test_the_case_that_ends_a_fresh_server_too_is_blamed() -> None:
    runs = judging(parse("builtin:5.3").start())
    assert dies(runs.run(named(deadly, "kv.deadly")), "kv.deadly")
    last = runs.run(loaded(met, "endurance", "wire.endurance.lives"))
    assert last.verdict is Verdict.FAIL
    assert last.ended_in == ("kv.deadly",)
    assert last.reason.startswith("the target had gone in kv.deadly, and on a fresh one")


def test_cases_that_ran_beside_the_deadly_one_are_not_blamed() -> None:
    runs = judging(parse("builtin:5.3").start())
    begun, over = threading.Event(), threading.Event()

    def beside(ns: NameServerSession) -> None:
        begun.set()
        over.wait(10)
        ns.call(QUERY, on=ns.connect()) >> Reply(0)

    results: list[CaseResult] = []
    harmless = threading.Thread(target=lambda: results.append(runs.run(named(beside, "kv.beside"))))
    harmless.start()
    assert begun.wait(10)
    runs.run(named(deadly, "kv.deadly"))
    over.set()
    harmless.join(20)
    assert [one.verdict for one in results] == [Verdict.PASS]
    last = runs.run(loaded(met, "endurance", "wire.endurance.lives"))
    assert last.ended_in == ("kv.deadly",)
