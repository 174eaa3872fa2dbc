"""One made-up run that has everything a report must show, and hostile text where a target could put it."""

from __future__ import annotations

import json
import struct

import msgspec

from harness.catalogue import Level
from harness.report.results import (
    CaseResult,
    Failure,
    FieldLine,
    PlannedCase,
    Run,
    RunEnd,
    RunHeader,
    Sent,
    StatementSummary,
    Verdict,
)
from harness.report.verdicts import ending
from harness.trace import Closed, Event, Note, Opened, Received, Trace
from harness.trace import Header as TraceHeader
from harness.trace import Sent as SentBytes

HOSTILE = "<script>alert(1)</script> \x1b[31mred\x1b[0m &amp; \u202egnp.exe ]]> \x00 \ud83d"
"""What a target may answer in a remark."""


def frame(code: int, opaque: int, flag: int = 0, body: bytes = b"", **ext: str) -> bytes:
    """A frame as Apache would write it, with a JSON header."""
    header = {"code": code, "extFields": ext, "flag": flag, "language": "JAVA", "opaque": opaque}
    data = json.dumps(
        {**header, "serializeTypeCurrentRPC": "JSON", "version": 479}, separators=(",", ":"), sort_keys=True
    ).encode()
    return struct.pack(">ii", 4 + len(data) + len(body), len(data)) + data + body


CLUSTER_BODY = (
    b'{"brokerAddrTable":{"b-7f3":{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.1:10911"},'
    b'"brokerName":"b-7f3","cluster":"c-7f3"}},"clusterAddrTable":{"c-7f3":["b-7f3"]}}'
)
CLUSTER_ANSWER = frame(0, 7, 1, CLUSTER_BODY)
_DECISIVE = CLUSTER_ANSWER.index(b'"brokerAddrs"')
_DECISIVE_END = CLUSTER_ANSWER.index(b',"brokerName"')

TRACE = Trace(
    TraceHeader(
        suite="0.1.0",
        target="builtin:5.3?mutant=keeps-old-record",
        profile="5.3",
        case="promotion",
        clock="virtual",
    ),
    (
        Opened(real=0.0, protocol=0.0, connection=1, local="127.0.0.1:50001", remote="127.0.0.1:9876"),
        SentBytes(
            real=0.001, protocol=0.0, connection=1, data=frame(103, 5, brokerId="1", brokerName="b-7f3")
        ),
        Received(real=0.002, protocol=0.0, connection=1, data=frame(0, 5, 1)),
        Note(real=0.0025, protocol=0.0, text="the clock is advanced by 30 s"),
        SentBytes(
            real=0.003,
            protocol=30.0,
            connection=1,
            data=frame(103, 6, brokerId="0", brokerName="b-7f3"),
        ),
        Received(real=0.004, protocol=30.0, connection=1, data=frame(0, 6, 1)),
        Opened(real=0.005, protocol=30.0, connection=2, local="127.0.0.1:50002", remote="127.0.0.1:9876"),
        SentBytes(real=0.006, protocol=30.0, connection=2, data=frame(106, 7)),
        Received(real=0.007, protocol=30.0, connection=2, data=CLUSTER_ANSWER[:100]),
        Received(real=0.008, protocol=30.0, connection=2, data=CLUSTER_ANSWER[100:]),
        Closed(real=0.009, protocol=30.0, connection=1, by="us", how="fin"),
        Closed(real=0.010, protocol=30.0, connection=2, by="target", how="reset"),
    ),
)
EVENTS: tuple[Event, ...] = TRACE.events

PROMOTION = Failure(
    statement="ns.registration.one-record-per-address",
    text="After a promotion an address is listed under one broker id only.",
    expected="b-7f3 = {0: 10.0.0.1:10911}",
    actual="b-7f3 = {0: 10.0.0.1:10911, 1: 10.0.0.1:10911}",
    frame_no=9,
    direction="received",
    where='#9 ← cluster information, body bytes 28–78: "brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.1:10911"}',
    frame_hex=CLUSTER_ANSWER.hex(),
    fields=(
        FieldLine(name="length", start=0, end=4, value=str(len(CLUSTER_ANSWER) - 4)),
        FieldLine(name="code", start=8, end=16, value="0 SUCCESS"),
        FieldLine(
            name="body brokerAddrs",
            start=_DECISIVE,
            end=_DECISIVE_END,
            value='{0:"10.0.0.1:10911",1:"10.0.0.1:10911"}',
            decisive=True,
        ),
    ),
    start=_DECISIVE,
    end=_DECISIVE_END,
    source=("RouteInfoManager#registerBroker (rocketmq-all-5.3.3)",),
    observed=("4.9.8", "5.3.3"),
    issues=("apache/rocketmq#5374",),
    trace="traces/promotion.trace",
    replay="rmq-harness replay out/traces/promotion.trace",
)

HOSTILE_FAILURE = Failure(
    statement="wire.errors.unknown-code",
    text="An unknown request code is answered with REQUEST_CODE_NOT_SUPPORTED.",
    expected="reply REQUEST_CODE_NOT_SUPPORTED\nor the connection is closed",
    actual=f"reply SUCCESS with remark {HOSTILE}",
    frame_no=2,
    direction="received",
    where=f"#2 ← unknown request, header bytes 8–20: {HOSTILE}",
    frame_hex=frame(0, 5, 1, remark="x").hex(),
    source=("NettyRemotingAbstract#processRequestCommand (rocketmq-all-4.9.8)",),
    observed=("4.9.8",),
    replay="rmq-harness replay out/traces/unknown-code.trace",
)

REMARK_FAILURE = Failure(
    statement="wire.errors.remark",
    text="The remark names the code.",
    expected='reply REQUEST_CODE_NOT_SUPPORTED (3), remark " request type 9999 not supported"',
    actual="reply REQUEST_CODE_NOT_SUPPORTED (3), remark absent",
    frame_no=2,
    direction="received",
    where="#2 ← 9999, frame bytes 8–20",
    frame_hex=frame(3, 5, 1).hex(),
    source=("NettyRemotingAbstract#processRequestCommand (rocketmq-all-4.9.8)",),
    observed=("4.9.8",),
    replay="rmq-harness check builtin:5.3 --profile 5.3 --select wire.errors.remark",
    sent=Sent(request="9999", traits=("unknown code",), header='{"code":9999,"opaque":5}', size=60),
)
"""What only a SHOULD asks for."""
DEVIATING = "test_remark_names_the_code"

_CASES: tuple[tuple[str, str, Level, str, str], ...] = (
    ("test_frame_is_answered", "framing", "MUST", "wire.framing.answered", "A whole frame is answered."),
    (
        "test_chunks_make_no_difference",
        "framing",
        "MUST",
        "wire.framing.chunks",
        "Chunks make no difference.",
    ),
    ("test_unknown_code", "errors", "MUST", "wire.errors.unknown-code", "An unknown code is refused."),
    (DEVIATING, "errors", "SHOULD", "wire.errors.remark", "The remark names the code."),
    ("test_oneway_busy", "errors", "MAY", "wire.errors.busy", "An overloaded server may say so."),
    (
        "test_one_record_per_address",
        "registration",
        "MUST",
        "ns.registration.one-record-per-address",
        "After a promotion an address is listed once.",
    ),
    ("test_heartbeat", "registration", "MUST", "ns.registration.heartbeat", "A heartbeat keeps a lease."),
    ("test_lease_ends", "lease", "MUST", "ns.lease.ends", "A lease ends after 120 s."),
    ("test_lease_is_renewed", "lease", "MUST", "ns.lease.renewed", "A registration renews a lease."),
    ("test_lease_after_restart", "lease", "MUST", "ns.lease.restart", "A restart forgets leases."),
)


def header(**changes: object) -> RunHeader:
    """The header of the sample run."""
    plain = RunHeader(
        suite="0.1.0",
        target="builtin:5.3?mutant=keeps-old-record",
        description="reference NameServer, profile 5.3, mutant keeps-old-record",
        profile="5.3",
        clock="virtual",
        started="2024-05-01T12:00:00+00:00",
        catalogue="3f9a2c41d07e",
        seed=7,
        command=("rmq-harness", "check", "builtin:5.3?mutant=keeps-old-record", "--report", "html"),
        cases=tuple(
            PlannedCase(name=name, chapter=chapter, level=level, statements=(statement,), title=title)
            for name, chapter, level, statement, title in _CASES
        ),
        statements=(
            *(
                StatementSummary(
                    id=statement,
                    chapter=chapter,
                    level=level,
                    text=title,
                    profiles=("4.9", "5.3"),
                    source=("RouteInfoManager#registerBroker (rocketmq-all-5.3.3)",),
                    observed=("4.9.8", "5.3.3"),
                )
                for _, chapter, level, statement, title in _CASES
            ),
            StatementSummary(
                id="ns.lease.memory",
                chapter="lease",
                level="SHOULD",
                text="Memory of a dead broker is given back.",
                untestable="memory is not seen on the wire",
            ),
        ),
        cases_available=12,
    )
    return msgspec.structs.replace(plain, **changes)


def results() -> tuple[CaseResult, ...]:
    """One result of each kind; the last planned case has none."""
    verdicts: dict[str, tuple[Verdict, str, Failure | None, str]] = {
        "test_unknown_code": (Verdict.FAIL, "", HOSTILE_FAILURE, ""),
        DEVIATING: (Verdict.DEVIATES, "", REMARK_FAILURE, ""),
        "test_oneway_busy": (Verdict.UNSUPPORTED, "the target declares that it never sheds load", None, ""),
        "test_one_record_per_address": (Verdict.FAIL, "", PROMOTION, ""),
        "test_heartbeat": (Verdict.BLOCKED, f"the target closed the connection: {HOSTILE}", None, ""),
        "test_lease_is_renewed": (
            Verdict.ERROR,
            "ZeroDivisionError in the harness",
            None,
            "Traceback (most recent call last):\n  …\nZeroDivisionError: division by zero\n",
        ),
    }
    found = []
    for number, (name, chapter, level, statement, title) in enumerate(_CASES[:-1]):
        verdict, reason, failure, detail = verdicts.get(name, (Verdict.PASS, "", None, ""))
        found.append(
            CaseResult(
                case=name,
                statements=(statement,),
                chapter=chapter,
                level=level,
                verdict=verdict,
                begun=number * 0.5,
                seconds=0.25 + number / 100,
                title=title,
                reason=reason,
                failure=failure,
                detail=detail,
                trace=failure.trace if failure else None,
                log=("panic: assignment to entry in nil map", HOSTILE) if verdict is Verdict.FAIL else (),
            )
        )
    return tuple(found)


def run() -> Run:
    """The whole sample: two failures, one of each other verdict that can occur, one case that never ran."""
    measured = Run(header=header(), results=results())
    return Run(header=measured.header, results=measured.results, end=ending(measured, seconds=4.5))


def green() -> Run:
    """The same cases, all of them passed."""
    planned = header(cases_available=len(_CASES), target="tcp://127.0.0.1:9876", clock="real", description="")
    passed = tuple(
        CaseResult(
            case=case.name,
            statements=case.statements,
            chapter=case.chapter,
            level=case.level,
            verdict=Verdict.PASS,
            begun=0.0,
            seconds=131.25 if case.chapter == "lease" else 0.125,
            title=case.title,
        )
        for case in planned.cases
    )
    measured = Run(header=planned, results=passed)
    return Run(header=planned, results=passed, end=ending(measured, seconds=131.5))


def interrupted() -> Run:
    """Stopped by the user after two cases."""
    measured = Run(header=header(), results=results()[:2])
    end: RunEnd = ending(measured, seconds=1.0, interrupted=True)
    return Run(header=measured.header, results=measured.results, end=end)


def unreachable() -> Run:
    """Nothing listened."""
    measured = Run(header=header(target="tcp://127.0.0.1:1"))
    why = "nothing listens on 127.0.0.1:1; start the server, or give its address"
    return Run(header=measured.header, end=ending(measured, seconds=0.0, trouble=why))
