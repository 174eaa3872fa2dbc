"""Cases of one line, and runners of them on the built-in reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from conformance_samples import module

from harness.catalogue import Catalogue, Level, Profile, Report, Source, Statement
from harness.conformance import AnyOf, Closed, Reply, case
from harness.conformance.case_run import Setting
from harness.conformance.loading import LoadedCase, cases
from harness.conformance.running import Runner
from harness.report.results import CaseResult
from harness.session import (
    NameServerSession,
)
from harness.targets import Shareable, parse
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
