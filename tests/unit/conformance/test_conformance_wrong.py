"""In which way an answer is wrong: the same words for all cases of one cause."""

from __future__ import annotations

from typing import Any, cast

import pytest
from test_conformance_expect import CLOSED, GARBLED, SILENT, STALLED, AnExchange, replied

from harness.conformance import ABSENT, AnyOf, Closed, Including, Reply, Request, Silence
from harness.conformance.wrong import change_at
from harness.report.results import Wrong
from harness.session import Exchange, Outcome, Unmet
from harness.session.exchange import View
from harness.session.outcome import Unreadable
from harness.wire import ResponseCode

OK = "SUCCESS (0)"
ADDRESSES = View("addresses", lambda _: None, ("brokerDatas",))
QUEUES = View("queues", lambda _: None, ("queueDatas",), ("readQueueNums", "writeQueueNums", "perm"))
MASTER = View("master", lambda _: None, columns=("masterAddr", "haServerAddr"))
COUNT = View("count", lambda _: None)
ENTRY = View("addresses of b", lambda _: None, ("brokerAddrTable", "b-zabcdefg", "brokerAddrs"))


def wrong(expectation: Any, outcome: Outcome, value: object = None, view: View = ADDRESSES) -> Wrong:
    class Seen(AnExchange):
        shows = view

    with pytest.raises(Unmet) as caught:
        expectation.judge(outcome, value, cast(Exchange, Seen()))
    assert isinstance(caught.value.wrong, Wrong)
    return caught.value.wrong


@pytest.mark.parametrize(
    ("expectation", "outcome", "wanted", "got"),
    [
        (Reply(0), replied(code=17), OK, "TOPIC_NOT_EXIST (17)"),
        (Reply((0, 17)), replied(code=4711), f"{OK} or TOPIC_NOT_EXIST (17)", "4711"),
        (Reply(0), CLOSED, OK, "closed"),
        (Reply(0), SILENT, OK, "silence"),
        (Reply(0), STALLED, OK, "no answer"),
        (Reply(0), GARBLED, OK, "no command"),
        (Closed(), replied(), "closed", OK),
        (Silence(), CLOSED, "silence", "closed"),
        (AnyOf(Reply(0), Closed()), replied(code=1), f"{OK} or closed", "SYSTEM_ERROR (1)"),
        (Request(40), replied(), "NOTIFY_CONSUMER_IDS_CHANGED (40)", OK),
    ],
)
def test_another_outcome(expectation: Any, outcome: Outcome, wanted: str, got: str) -> None:
    assert wrong(expectation, outcome) == Wrong(kind="outcome", wanted=wanted, got=got)


@pytest.mark.parametrize(
    ("expectation", "answer", "value", "view", "place", "change"),
    [
        (Reply(0, remark="x"), {"remark": "y"}, None, COUNT, "remark", "different"),
        (Reply(0, remark=ABSENT), {"remark": "y"}, None, COUNT, "remark", "added"),
        (Reply(0, ext={"a": "b"}), {}, None, COUNT, "extFields.a", "absent"),
        (Reply(0, ext={}), {"ext": {"a": "b"}}, None, COUNT, "extFields.a", "added"),
        (Reply(0, ext=Including({"a": "b"})), {"ext": {"c": "d"}}, None, COUNT, "extFields.a", "absent"),
        (Reply(0, ("a", "h")), {}, ("a", None), MASTER, "extFields.haServerAddr", "absent"),
        (Reply(0, (None, None)), {}, (None, ""), MASTER, "extFields.haServerAddr", "added"),
        (Reply(0, 3), {}, 4, COUNT, "count", "different"),
        (
            Reply(0, {"b-z": (8, 8, 6)}),
            {"body": b"x"},
            {"b-z": (8, 8, 7)},
            QUEUES,
            "body.queueDatas.*.perm",
            "different",
        ),
        (
            Reply(0, {"b-z": {0: "a"}}),
            {"body": b"x"},
            {"b-z": {}},
            ADDRESSES,
            "body.brokerDatas.*.*",
            "fewer",
        ),
        (Reply(0, {"b-z": {}}), {"body": b"x"}, {"b-z": {0: "a"}}, ADDRESSES, "body.brokerDatas.*.*", "more"),
        (Reply(0, {0: "a"}), {"body": b"x"}, None, ENTRY, "body.brokerAddrTable.*.brokerAddrs", "fewer"),
        (Reply(0, {0: "a"}), {}, None, ENTRY, "body", "absent"),
        (
            Reply(0, {"b-z": (8, 8, 6)}),
            {"body": b"x"},
            Unreadable("there is no perm", 0, 1, ("queueDatas", 0, "perm")),
            QUEUES,
            "body.queueDatas[].perm",
            "absent",
        ),
        (
            Reply(0, {"b-z": (8, 8, 6)}),
            {"body": b"x"},
            Unreadable("perm is a string", 0, 1, ("queueDatas", 0, "perm"), "of another type"),
            QUEUES,
            "body.queueDatas[].perm",
            "of another type",
        ),
    ],
)
def test_a_part_of_the_answer(
    expectation: Any, answer: dict[str, Any], value: object, view: View, place: str, change: str
) -> None:
    found = wrong(expectation, replied(code=ResponseCode.SUCCESS, **answer), value, view)
    assert (found.kind, found.wanted, found.place, found.change) == ("member", OK, place, change)


def test_names_addresses_and_numbers_of_a_run_are_no_part_of_it() -> None:
    one = wrong(Reply(0, {"b-zabcdefg": {0: "10.1.2.3:4"}}), replied(body=b"x"), {"b-zabcdefg": {}})
    other = wrong(Reply(0, {"q-zhijklmn-2": {7: "10.9.9.9:9"}}), replied(body=b"x"), {"q-zhijklmn-2": {}})
    assert one == other


def test_what_cannot_be_read() -> None:
    found = wrong(Reply(0, {}), replied(body=b"{"), Unreadable("no JSON", 0, 1))
    assert (found.kind, found.place) == ("unreadable", "body.brokerDatas")


@pytest.mark.parametrize(
    ("pattern", "actual", "path", "change"),
    [
        (["a", "b"], ["a"], (1,), "fewer"),
        (["a"], ["a", "b"], (1,), "more"),
        (["a"], ["a", "a"], (1,), "repeated"),
        (["a", "b"], ["b", "a"], (0,), "in another order"),
        (["a"], ["b"], (0,), "others"),
        ({"a"}, {"a", "b"}, (), "more"),
        (Including(["a"]), ["b"], (), "fewer"),
        ({"x": {"y": 1}}, {"x": {"y": 2}}, ("x", "y"), "different"),
        ({"x": {"y": 1}}, {"x": {"y": "1"}}, ("x", "y"), "of another type"),
        ({"x": 1}, {}, ("x",), "absent"),
        ({}, {"x": 1}, ("x",), "added"),
        (1, None, (), "absent"),
        (None, 1, (), "added"),
    ],
)
def test_how_a_value_differs(pattern: object, actual: object, path: tuple[Any, ...], change: str) -> None:
    assert change_at(pattern, actual, path) == change
