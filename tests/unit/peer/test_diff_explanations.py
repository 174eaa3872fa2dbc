"""Normal forms and named explanations: what is taken for the same, and what for no news."""

from __future__ import annotations

import pytest

from harness.catalogue import Quirk, When
from harness.engine.peer.differences import Difference, differences, kinds_of
from harness.engine.peer.normal import RULES, Compare, normal
from harness.engine.peer.taints import Taints
from harness.program.chance import chance
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import BORN
from harness.program.steps import AnyStep
from harness.spec import Answered, Ended, Unanswered
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.predicates import PREDICATES
from harness.wire import Command, decode, encode

NAMES = Names(chance("n"))


def said(step: AnyStep, compare: Compare = "exact", body: bytes = b"", **header: object) -> dict[str, object]:
    command = decode(encode(Command(**{"flag": 1, **header}, body=body)))  # type: ignore[arg-type]
    return normal(Answered(command), step, NAMES, compare)


def body_of(text: str) -> bytes:
    return text.replace("~", f"-{NAMES.nonce}").encode()


SAME: list[tuple[AnyStep, dict[str, object], dict[str, object]]] = [
    (ns.Topics(), {"version": 409}, {"version": 479}),
    (ns.Topics(), {"code": 1, "remark": "java.lang.X, frame"}, {"code": 1, "remark": "it is missing"}),
    (ns.Topics(), {"ext": {}}, {"ext": None}),
    (
        ns.Topics(),
        {"body": body_of('{"topicList":["T0~","T1~"]}')},
        {"body": body_of('{"topicList":["T1~","T0~","else"]}')},
    ),
    (ns.SystemTopics(), {"body": b'{"brokerAddr":"a","topicList":[]}'}, {"body": b'{"topicList":[]}'}),
    (
        ns.ClusterInfo(),
        {"body": body_of('{"brokerAddrTable":{},"clusterAddrTable":{"c0~":["b1~","b0~"]}}')},
        {"body": body_of('{"clusterAddrTable":{"c0~":["b0~","b1~"],"x":["y"]},"brokerAddrTable":{}}')},
    ),
]


@pytest.mark.parametrize(("step", "a", "b"), SAME)
def test_what_no_client_may_rely_on_is_the_same(
    step: AnyStep, a: dict[str, object], b: dict[str, object]
) -> None:
    assert differences(said(step, **a), said(step, **b), NAMES) == ()  # type: ignore[arg-type]


DIFFERENT: list[tuple[AnyStep, dict[str, object], dict[str, object], str]] = [
    (ns.Topics(), {"code": 0}, {"code": 1}, "code"),
    (ns.Topics(), {"code": 1, "remark": "disable"}, {"code": 1, "remark": "x"}, "remark"),
    (ns.Topics(), {"remark": "a"}, {"remark": None}, "remark"),
    (ns.Topics(), {"ext": {"a": "1"}}, {"ext": None}, "ext"),
    (ns.Topics(), {"language": "JAVA"}, {"language": "CPP"}, "language"),
    (ns.Topics(), {"body": body_of('{"topicList":["T0~"]}')}, {"body": b'{"topicList":[]}'}, "body"),
    (
        ns.Topics(),
        {"body": body_of('{"topicList":["T0~","T0~"]}')},
        {"body": body_of('{"topicList":["T0~"]}')},
        "body",
    ),
    (
        ns.Route(),
        {"body": b'{"brokerDatas":[{"brokerAddrs":{0:"a"},"brokerName":"b"}]}'},
        {"body": b'{"brokerDatas":[{"brokerAddrs":{"0":"a"},"brokerName":"b"}]}'},
        "dialect",
    ),
]


@pytest.mark.parametrize(("step", "a", "b", "field"), DIFFERENT)
def test_everything_else_is_not(
    step: AnyStep, a: dict[str, object], b: dict[str, object], field: str
) -> None:
    found = differences(said(step, **a), said(step, **b), NAMES)  # type: ignore[arg-type]
    assert [one.field for one in found] == [field]


def test_silence_a_close_and_an_answer_are_three_things() -> None:
    outcomes = [
        normal(Unanswered(), ns.Topics(), NAMES),
        normal(Ended(), ns.Topics(), NAMES),
        said(ns.Topics()),
    ]
    assert len({str(one["outcome"]) for one in outcomes}) == 3


def test_names_are_said_by_their_symbols() -> None:
    step = ns.Register(broker="b3", cluster="c1", address="a12")
    command = decode(frame_of(step, NAMES, 7, 479))
    assert command.ext is not None
    assert NAMES.symbols(str(command.ext["brokerName"])) == "b3"
    assert NAMES.symbols(str(command.ext["brokerAddr"])) == "a12"
    assert command.opaque == 7


def test_rules_have_names_and_reasons() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.what.endswith(".") and rule.why.endswith(".") for rule in RULES)


# --- quirks -------------------------------------------------------------------------------------------------


def _quirk(**when: object) -> Quirk:
    return Quirk(
        id="q",
        statements=(),
        versions=(),
        instead="",
        source=(),
        observed=(),
        when=When(**{"steps": ("unregister",), **when}),  # type: ignore[arg-type]
    )


def _about(*fact: str) -> Difference:
    return Difference("body", (fact,), ())


def test_taint_explains_its_own_names_and_no_other() -> None:
    expected, taints = ExpectedState("5.3"), Taints()
    for broker, address in (("b0", "a0"), ("b1", "a1")):
        expected.apply(
            ns.Register(
                broker=broker, address=address, topics={f"T{broker[1]}": (8, 8, 6, 0), "T9": (8, 8, 6, 0)}
            )
        )
    taints.add(_quirk(taints="broker"), ns.Unregister(broker="b0", address="a0"), expected)
    assert taints.explains(_about("brokerAddrTable", "b0", "cluster", "c0"), ns.ClusterInfo()) == "q"
    assert taints.explains(_about("topicList", "T0"), ns.Topics()) == "q"
    assert taints.explains(_about("brokerAddrTable", "b1", "cluster", "c0"), ns.ClusterInfo()) is None
    assert taints.explains(_about("topicList", "T1"), ns.Topics()) is None
    assert taints.explains(Difference("code", (("0",),), (("17",),)), ns.Route(topic="T0")) == "q"
    assert taints.explains(Difference("code", (("0",),), (("17",),)), ns.Route(topic="T1")) is None
    assert taints.explains(Difference("remark", (("x",),), ()), ns.MemberGroup(broker="b1")) is None


def test_what_concerns_an_address_alone_does_not_spread() -> None:
    expected, taints = ExpectedState("5.3"), Taints()
    step = ns.Register(broker="b0", address="a0", topics={"T0": (8, 8, 6, 0)})
    taints.add(_quirk(taints="address"), step, expected)
    taints.spread(step, expected)
    assert taints.explains(_about("timestamp", "0"), ns.QueryVersion(address="a0")) == "q"
    assert taints.explains(_about("topicList", "T0"), ns.Topics()) is None
    assert taints.explains(_about("brokerAddrTable", "b0", "cluster", "c0"), ns.ClusterInfo()) is None


def test_a_deleted_topic_taints_every_broker_that_maps_it() -> None:
    expected, taints = ExpectedState("5.3"), Taints()
    expected.apply(ns.Register(broker="b2", address="a2", mappings={"T0": ("b2", 0)}))
    expected.apply(ns.Register(broker="b3", address="a3", mappings={"T3": ("b3", 0)}))
    taints.add(_quirk(taints="broker", steps=("delete-topic",)), ns.DeleteTopic(topic="T0"), expected)
    route = ns.Route(topic="T0")
    assert taints.explains(_about("topicQueueMappingByBroker", "b2", "bname", "b2"), route) == "q"
    assert taints.explains(_about("topicQueueMappingByBroker", "b3", "bname", "b3"), route) is None


def test_taint_spreads_with_registrations() -> None:
    expected, taints = ExpectedState("5.3"), Taints()
    taints.add(_quirk(taints="broker"), ns.Unregister(broker="b0", address="a0"), expected)
    step = ns.Register(broker="b0", address="a7", topics={"T5": (8, 8, 6, 0)})
    taints.spread(step, expected)
    assert taints.explains(_about("topicList", "T5"), ns.Topics()) == "q"
    assert taints.explains(_about("x", "a7"), ns.Topics()) == "q"


def test_the_version_zero_is_none_that_was_missing() -> None:
    expected = ExpectedState("5.3")
    zero = ns.Register(
        broker="b0", address="a0", counter=0, timestamp=-BORN, state=0, mappings={"T0": ("b0", 0)}
    )
    equal = PREDICATES["mapping-of-equal-version"]
    expected.apply(ns.Register(broker="b0", address="a0", form="bare"))
    assert not equal(expected, zero)
    expected.apply(zero)
    assert equal(expected, zero)


# --- meaning ------------------------------------------------------------------------------------------------

SAME_MEANING: list[tuple[AnyStep, dict[str, object], dict[str, object]]] = [
    (ns.Topics(), {"language": "JAVA"}, {"language": "RUST"}),
    (ns.Topics(), {"remark": "a"}, {"remark": None}),
    (ns.Topics(), {"flag": 1}, {"flag": 5}),
    (
        ns.Route(),
        {"body": b'{"brokerDatas":[{"brokerAddrs":{0:"a"},"brokerName":"b"}]}'},
        {"body": b'{ "brokerDatas" : [{"brokerName":"\\u0062","brokerAddrs":{"0":"a"}}] }'},
    ),
    (ns.Route(), {"body": b'{"brokerDatas":[],"orderTopicConf":null}'}, {"body": b'{"brokerDatas":[]}'}),
]


@pytest.mark.parametrize(("step", "a", "b"), SAME_MEANING)
def test_how_it_is_written_is_not_its_meaning(
    step: AnyStep, a: dict[str, object], b: dict[str, object]
) -> None:
    ours, theirs = (said(step, "meaning", **one) for one in (a, b))  # type: ignore[arg-type]
    assert differences(ours, theirs, NAMES) == ()
    ours, theirs = (said(step, "exact", **one) for one in (a, b))  # type: ignore[arg-type]
    assert differences(ours, theirs, NAMES)


OTHER_MEANING: list[tuple[dict[str, object], dict[str, object], tuple[str, ...]]] = [
    ({"code": 0}, {"code": 17}, ("A SUCCESS (0) / B TOPIC_NOT_EXIST (17)",)),
    ({"ext": {"a": ""}}, {"ext": None}, ("ext: only A has one",)),
    ({"body": b'{"n":1}'}, {"body": b'{"n":"1"}'}, ("body n: another value",)),
    ({"body": b'{"n":true}'}, {"body": b'{"n":"true"}'}, ("body n: another value",)),
    ({"body": b'{"n":1,"m":{}}'}, {"body": b'{"n":1}'}, ("body m: only A has it",)),
    ({"body": b'{"l":["x","x"]}'}, {"body": b'{"l":["x"]}'}, ("body l: A has one twice",)),
    (
        {"code": 0, "body": b'{"n":1}'},
        {"code": 1},
        ("A SUCCESS (0) / B SYSTEM_ERROR (1)",),
    ),
]


@pytest.mark.parametrize(("a", "b", "kinds"), OTHER_MEANING)
def test_other_meanings_have_kinds(
    a: dict[str, object], b: dict[str, object], kinds: tuple[str, ...]
) -> None:
    ours, theirs = (said(ns.Route(), "meaning", **one) for one in (a, b))  # type: ignore[arg-type]
    assert kinds_of(differences(ours, theirs, NAMES)) == kinds


def test_kinds_hold_no_names() -> None:
    NAMES.name("b0")
    NAMES.name("T0")
    ours, theirs = (
        said(ns.ClusterInfo(), "meaning", body_of(text))
        for text in (
            '{"brokerAddrTable":{"b0~":{"brokerAddrs":{"0":"x"}}}}',
            '{"brokerAddrTable":{"b0~":{"brokerAddrs":{"0":"y"}}}}',
        )
    )
    assert kinds_of(differences(ours, theirs, NAMES)) == (
        "body brokerAddrTable/*/brokerAddrs/n: another value",
    )
