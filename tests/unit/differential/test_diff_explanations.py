"""Normal forms and named explanations: what is taken for the same, and what for no news."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import CatalogueProblems, catalogue, specs_directory
from harness.differential.model import PREDICATES, Model
from harness.differential.normal import RULES, Difference, differences, normal
from harness.differential.quirks import Quirk, Taints, applying, load_quirks, quirks
from harness.program.chance import chance
from harness.program.frames import Names, frame_of
from harness.program.steps import (
    AnyStep,
    ClusterInfo,
    DeleteTopic,
    MemberGroup,
    QueryVersion,
    Register,
    Route,
    SystemTopics,
    Topics,
    Unregister,
)
from harness.wire import Command, decode, encode

NAMES = Names(chance("n"))


def said(step: AnyStep, body: bytes = b"", **header: object) -> dict[str, object]:
    return normal(encode(Command(flag=1, body=body, **header)), "open", step, NAMES)  # type: ignore[arg-type]


def body_of(text: str) -> bytes:
    return text.replace("~", f"-{NAMES.nonce}").encode()


SAME: list[tuple[AnyStep, dict[str, object], dict[str, object]]] = [
    (Topics(), {"version": 409}, {"version": 479}),
    (Topics(), {"code": 1, "remark": "java.lang.X, frame"}, {"code": 1, "remark": "it is missing"}),
    (Topics(), {"ext": {}}, {"ext": None}),
    (
        Topics(),
        {"body": body_of('{"topicList":["T0~","T1~"]}')},
        {"body": body_of('{"topicList":["T1~","T0~","else"]}')},
    ),
    (SystemTopics(), {"body": b'{"brokerAddr":"a","topicList":[]}'}, {"body": b'{"topicList":[]}'}),
    (
        ClusterInfo(),
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
    (Topics(), {"code": 0}, {"code": 1}, "code"),
    (Topics(), {"code": 1, "remark": "disable"}, {"code": 1, "remark": "x"}, "remark"),
    (Topics(), {"remark": "a"}, {"remark": None}, "remark"),
    (Topics(), {"ext": {"a": "1"}}, {"ext": None}, "ext"),
    (Topics(), {"language": "JAVA"}, {"language": "CPP"}, "language"),
    (Topics(), {"body": body_of('{"topicList":["T0~"]}')}, {"body": b'{"topicList":[]}'}, "body"),
    (
        Topics(),
        {"body": body_of('{"topicList":["T0~","T0~"]}')},
        {"body": body_of('{"topicList":["T0~"]}')},
        "body",
    ),
    (
        Route(),
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
        normal(None, "open", Topics(), NAMES),
        normal(None, "closed", Topics(), NAMES),
        said(Topics()),
    ]
    assert len({str(one["outcome"]) for one in outcomes}) == 3


def test_names_are_said_by_their_symbols() -> None:
    step = Register(broker="b3", cluster="c1", address="a12")
    command = decode(frame_of(step, NAMES, 7, 479))
    assert command.ext is not None
    assert NAMES.symbols(str(command.ext["brokerName"])) == "b3"
    assert NAMES.symbols(str(command.ext["brokerAddr"])) == "a12"
    assert command.opaque == 7


def test_rules_have_names_and_reasons() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.what.endswith(".") and rule.why.endswith(".") for rule in RULES)


# --- named divergences --------------------------------------------------------------------------------------


def test_every_predicate_is_used_and_says_what_it_is() -> None:
    assert {word for quirk in quirks() for word in quirk.when} == set(PREDICATES)
    assert all(predicate.__doc__ for predicate in PREDICATES.values())


def test_divergences_name_statements_and_profiles_that_exist() -> None:
    known = catalogue()
    for quirk in quirks():
        assert all(known.statement(one) is not None for one in quirk.statements), quirk.id
        assert all(known.profile(one) is not None for one in quirk.profiles), quirk.id


def test_a_file_with_unknown_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    schema = specs_directory() / "schema" / "divergence.schema.json"
    (tmp_path / "schema" / schema.name).write_bytes(schema.read_bytes())
    (tmp_path / "divergences.yaml").write_text(
        "- {id: x, profiles: ['5.3'], targets: [apache], steps: [dance], when: [full-moon], "
        "differs: [smell], text: what the server does here, reference: what we do, source: Some#where}\n",
        encoding="utf-8",
    )
    with pytest.raises(CatalogueProblems) as caught:
        load_quirks(tmp_path)
    assert [word in str(caught.value) for word in ("dance", "full-moon", "smell")] == [True] * 3


def test_a_quirk_applies_to_its_profiles_and_targets_only() -> None:
    assert applying(quirks(), "5.3", ["builtin", "apache"])
    assert not applying(quirks(), "5.3", ["builtin", "builtin"])
    assert {q.id for q in applying(quirks(), "4.9", ["apache", "builtin"])} != {
        q.id for q in applying(quirks(), "5.3", ["apache", "builtin"])
    }


def _quirk(**members: object) -> Quirk:
    whole: dict[str, object] = {
        "id": "q",
        "profiles": ("5.3",),
        "targets": ("apache",),
        "steps": ("unregister",),
        "text": "",
        "reference": "",
        "source": "",
        **members,
    }
    return Quirk(**whole)  # type: ignore[arg-type]


def _about(*fact: str) -> Difference:
    return Difference("body", (fact,), ())


def test_taint_explains_its_own_names_and_no_other() -> None:
    model, taints = Model(five=True), Taints()
    for broker, address in (("b0", "a0"), ("b1", "a1")):
        model.apply(
            Register(
                broker=broker, address=address, topics={f"T{broker[1]}": (8, 8, 6, 0), "T9": (8, 8, 6, 0)}
            )
        )
    taints.add(_quirk(taints="broker"), Unregister(broker="b0", address="a0"), model)
    assert taints.explains(_about("brokerAddrTable", "b0", "cluster", "c0"), ClusterInfo()) == "q"
    assert taints.explains(_about("topicList", "T0"), Topics()) == "q"
    assert taints.explains(_about("brokerAddrTable", "b1", "cluster", "c0"), ClusterInfo()) is None
    assert taints.explains(_about("topicList", "T1"), Topics()) is None
    assert taints.explains(Difference("code", (("0",),), (("17",),)), Route(topic="T0")) == "q"
    assert taints.explains(Difference("code", (("0",),), (("17",),)), Route(topic="T1")) is None
    assert taints.explains(Difference("remark", (("x",),), ()), MemberGroup(broker="b1")) is None


def test_what_concerns_an_address_alone_does_not_spread() -> None:
    model, taints = Model(five=True), Taints()
    step = Register(broker="b0", address="a0", topics={"T0": (8, 8, 6, 0)})
    taints.add(_quirk(taints="address"), step, model)
    taints.spread(step, model)
    assert taints.explains(_about("timestamp", "0"), QueryVersion(address="a0")) == "q"
    assert taints.explains(_about("topicList", "T0"), Topics()) is None
    assert taints.explains(_about("brokerAddrTable", "b0", "cluster", "c0"), ClusterInfo()) is None


def test_a_deleted_topic_taints_whoever_has_mapped_it() -> None:
    model, taints = Model(five=True), Taints()
    model.apply(Register(broker="b2", address="a2", mappings={"T0": ("b2", 0)}))
    model.apply(Register(broker="b3", address="a3", mappings={"T3": ("b3", 0)}))
    taints.add(_quirk(taints="broker", steps=("delete-topic",)), DeleteTopic(topic="T0"), model)
    route = Route(topic="T0")
    assert taints.explains(_about("topicQueueMappingByBroker", "b2", "bname", "b2"), route) == "q"
    assert taints.explains(_about("topicQueueMappingByBroker", "b3", "bname", "b3"), route) is None


def test_taint_spreads_with_registrations() -> None:
    model, taints = Model(five=True), Taints()
    taints.add(_quirk(taints="broker"), Unregister(broker="b0", address="a0"), model)
    step = Register(broker="b0", address="a7", topics={"T5": (8, 8, 6, 0)})
    taints.spread(step, model)
    assert taints.explains(_about("topicList", "T5"), Topics()) == "q"
    assert taints.explains(_about("x", "a7"), Topics()) == "q"
