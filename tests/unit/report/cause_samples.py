"""Failures as a run records them, and a run of some of them."""

from __future__ import annotations

import msgspec
import report_samples as samples

from harness.report.results import (
    CaseResult,
    Failure,
    Held,
    PlannedCase,
    Run,
    Sent,
    StatementSummary,
    Verdict,
    Wrong,
)
from harness.report.verdicts import ending

REGISTER, QUERY, ROUTE, TOPICS, UNREGISTER, CLUSTER = (
    "103 REGISTER_BROKER",
    "322 QUERY_DATA_VERSION",
    "105 GET_ROUTEINFO_BY_TOPIC",
    "206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
    "104 UNREGISTER_BROKER",
    "106 GET_BROKER_CLUSTER_INFO",
)
OK, REFUSED, GONE = "SUCCESS (0)", "SYSTEM_ERROR (1)", "TOPIC_NOT_EXIST (17)"
INVALID = "INVALID_PARAMETER (29)"
"""What a server that counts its errors in its own way answers."""


def outcome(wanted: str, got: str) -> Wrong:
    """Another outcome than expected."""
    return Wrong(kind="outcome", wanted=wanted, got=got)


def member(place: str, change: str = "absent") -> Wrong:
    """A part of the answer that differs."""
    return msgspec.convert({"kind": "member", "wanted": OK, "place": place, "change": change}, Wrong)


def failed(
    name: str,
    request: str,
    wrong: Wrong,
    *traits: str,
    after: tuple[str, ...] = (),
    held: tuple[Held, ...] = (),
    level: str = "MUST",
) -> CaseResult:
    """A case that failed; its statement is called as it is."""
    sent = Sent(
        request=request,
        traits=traits,
        header=f'{{"code":{request.split()[0]},"extFields":{{"brokerName":"b-zabcdefg"}},"opaque":7}}',
        body='{"topicConfigSerializeWrapper":{}}' if request == REGISTER else "",
        size=120 + len(name),
    )
    failure = Failure(
        statement=f"ns.{name}",
        text=f"A server MUST do what {name} says.",
        expected=f"reply {wrong.wanted}",
        actual=f"reply {wrong.got or wrong.wanted}, {wrong.place or 'remark'}",
        where="#2 ← register b-zabcdefg (103 REGISTER_BROKER), frame bytes 16–18: 29",
        replay=f"rmq-harness check tcp://127.0.0.1:9876 --profile 5.3 --select ns.{name}",
        sent=sent if request else None,
        wrong=wrong,
        after=after,
        deed=Sent(request=after[-1], header='{"code":104,"opaque":6}', size=90) if after else None,
        then=("time",) if after else (),
    )
    return msgspec.structs.replace(passed(name, *held), verdict=Verdict.FAIL, level=level, failure=failure)


def passed(name: str, *held: Held) -> CaseResult:
    """A case that passed, with requests whose outcome was as expected."""
    return CaseResult(
        case=name,
        statements=(f"ns.{name}",),
        chapter=name.split(".")[0],
        level="MUST",
        verdict=Verdict.PASS,
        begun=0.0,
        seconds=0.5,
        title=f"A server MUST do what {name} says.",
        held=held,
    )


def blocked(name: str, by: str) -> CaseResult:
    """A case that builds on the statement of another."""
    reason = f"the case builds on {by}, which the target breaks"
    return msgspec.structs.replace(passed(name), verdict=Verdict.BLOCKED, reason=reason, blocked_by=by)


def answered(request: str, answer: str, *traits: str) -> Held:
    """A request with the outcome that was expected."""
    return Held(request=request, traits=traits, answer=answer)


def run_of(*results: CaseResult) -> Run:
    """A finished run of these cases and no others."""
    header = msgspec.structs.replace(
        samples.header(target="tcp://127.0.0.1:9876", description="", clock="real"),
        cases=tuple(
            PlannedCase(
                name=one.case,
                chapter=one.chapter,
                level=one.level,
                statements=one.statements,
                title=one.title,
            )
            for one in results
        ),
        statements=tuple(
            StatementSummary(id=one.statements[0], chapter=one.chapter, level=one.level, text=one.title)
            for one in results
        ),
        cases_available=len(results),
    )
    measured = Run(header=header, results=results)
    return Run(header=header, results=results, end=ending(measured, seconds=4.5))


def several() -> Run:
    """A run with four causes, one of which blocks more than it fails."""
    return run_of(
        passed("framing.answered", answered(TOPICS, OK), answered("raw bytes", "closed", "length too large")),
        failed("errors.bad-id", REGISTER, outcome(REFUSED, INVALID), "brokerId no number"),
        failed("errors.no-body", REGISTER, outcome(REFUSED, INVALID), "no body"),
        failed("errors.bad-query", QUERY, outcome(REFUSED, INVALID), "without the field brokerName"),
        failed(
            "kv.no-namespace", "100 PUT_KV_CONFIG", outcome(REFUSED, INVALID), "without the field namespace"
        ),
        failed("registration.compressed", REGISTER, outcome(OK, INVALID), "body compressed"),
        blocked("routes.of-compressed", "ns.registration.compressed"),
        blocked("routes.of-all", "ns.registration.compressed"),
        blocked("cluster.of-compressed", "ns.registration.compressed"),
        blocked("topics.of-compressed", "ns.registration.compressed"),
        failed("registration.master", REGISTER, member("extFields.haServerAddr")),
        failed("registration.new-master", REGISTER, member("extFields.haServerAddr"), "brokerId below 0"),
        failed("unregistration.last", ROUTE, outcome(GONE, OK), after=(REGISTER, UNREGISTER)),
        failed(
            "unregistration.lists", TOPICS, member("body.topicList[]", "more"), after=(REGISTER, UNREGISTER)
        ),
        passed("registration.plain", answered(REGISTER, OK), answered(ROUTE, OK), answered(ROUTE, GONE)),
    )
