"""Every expectation against every kind of outcome: met, missed and how, and how it reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.conformance import (
    ABSENT,
    ANYTHING,
    AnyOf,
    Closed,
    Containing,
    Including,
    Matching,
    Reply,
    Silence,
    Unchanged,
)
from harness.conformance.expect import Met, Missed, code_name
from harness.session import (
    Answer,
    ClosedBy,
    Exchange,
    Garbled,
    Mark,
    Outcome,
    Replied,
    Silent,
    Stalled,
    Unmet,
)
from harness.session.exchange import View
from harness.session.outcome import Decisive, Unreadable
from harness.wire import Command, ResponseCode, Serialization, encode
from harness.wire.bodies import DataVersion

SUCCESS, TOPIC_NOT_EXIST = ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST


def replied(**fields: Any) -> Replied:
    command = Command(**{"flag": 1, "opaque": 7, **fields})
    return Replied(connection=1, event=6, command=command, frame=encode(command))


SILENT = Silent(connection=1, waited=0.2)
STALLED = Stalled(connection=1, waited=3.0)
CLOSED = ClosedBy(connection=1, event=3, how="fin")
RESET = ClosedBy(connection=1, event=3, how="reset")
CLOSED_BY_US = ClosedBy(connection=1, event=3, how="fin", by="us")
GARBLED = Garbled(connection=1, event=3, data=b"HTTP/1.1 400", diagnostics=(), problem="length too large")
NO_REPLIES: list[Outcome] = [SILENT, STALLED, CLOSED, RESET, CLOSED_BY_US, GARBLED]


class AnExchange:
    """As much of an exchange as judging needs."""

    subject = "route of T"
    shows = View("addresses", lambda reply: reply.body, ("brokerDatas",))
    general_view = "addresses"
    session = SimpleNamespace(is_ours=lambda name: name == "b")

    def kind(self, outcome: Outcome, value: object) -> str:
        return ""

    def decisive(self, outcome: Outcome, path: tuple[str | int, ...] = ()) -> Decisive | None:
        return Decisive(6, 1, f"{self.subject} at {path}", "body", 0, 2, b"{}")


EXCHANGE = cast(Exchange, AnExchange())


@pytest.mark.parametrize(
    ("expectation", "outcome", "value"),
    [
        (Reply(SUCCESS), replied(), None),
        (Reply(0, {"a": 1}), replied(), {"a": 1}),
        (Reply((0, 17)), replied(code=17), None),
        (Reply(17, remark=Matching("^No")), replied(code=17, remark="No topic"), None),
        (Reply(0, remark=ABSENT, ext=ABSENT), replied(), None),
        (Reply(0, ext={}), replied(ext=None), None),
        (Reply(0, ext=ABSENT), replied(ext={}), None),
        (Reply(0, ext={"a": "b"}), replied(ext={"a": "b"}), None),
        (Reply(0, ext=Including({"a": "b", "c": ABSENT})), replied(ext={"a": "b", "d": "e"}), None),
        (Reply(0, flag=1, version=409, language="JAVA"), replied(version=409), None),
        (Reply(0, serialization=Serialization.JSON), replied(), None),
        (Reply(0, header=Containing('"opaque":7')), replied(body=b"x"), None),
        (Reply(0, body=b"x"), replied(body=b"x"), None),
        (AnyOf(Reply(0), Closed()), replied(), None),
        (AnyOf(Reply(0), Closed()), CLOSED, None),
        (AnyOf(Reply(1), Silence()), SILENT, None),
        (Silence(), SILENT, None),
        (Closed(), CLOSED, None),
        (Closed(), RESET, None),
    ],
)
def test_met(expectation: Any, outcome: Outcome, value: object) -> None:
    assert expectation.check(outcome, value) == Met()
    assert expectation.judge(outcome, value, EXCHANGE) is None


@pytest.mark.parametrize(
    ("expectation", "outcome", "value", "actual", "reason", "field"),
    [
        (
            Reply(0),
            replied(code=17, remark="no"),
            None,
            'reply TOPIC_NOT_EXIST (17), remark "no"',
            "",
            "code",
        ),
        (Reply(0), replied(code=99, body=b"abc"), None, "reply 99, 3 body bytes", "", "code"),
        (
            Reply(0),
            replied(flag=0),
            None,
            "a frame that is no response: 0",
            "flag is 0",
            "flag",
        ),
        (Reply(0, flag=1), replied(flag=5), None, "reply SUCCESS (0), flag 5", "", "flag"),
        (Reply(0, remark=ABSENT), replied(remark="x"), None, 'reply SUCCESS (0), remark "x"', "", "remark"),
        (
            Reply(0, ext={"a": "b"}),
            replied(ext={"a": "c"}),
            None,
            'reply SUCCESS (0), extFields {a: "c"}',
            "differs at a",
            "extFields.a",
        ),
        (
            Reply(0, serialization=Serialization.ROCKETMQ),
            replied(),
            None,
            "reply SUCCESS (0), serialize type JSON (0)",
            "",
            "serialize type",
        ),
        (
            Reply(0, {"a": {"b": 1}}),
            replied(),
            {"a": {"b": 2}},
            "reply SUCCESS (0), {a: {b: 2}}",
            "differs at a.b",
            None,
        ),
        (
            Reply(0),
            replied(),
            Unreadable("no JSON", 0, 3),
            "reply SUCCESS (0), unreadable: no JSON (body bytes 0–3)",
            "",
            None,
        ),
        (Silence(), replied(code=3), None, "reply REQUEST_CODE_NOT_SUPPORTED (3)", "", None),
        (Closed(), replied(), None, "reply SUCCESS (0)", "", None),
        (AnyOf(Reply(0, 5), Closed()), replied(), 6, "reply SUCCESS (0), 6", "", None),
    ],
)
def test_missed(
    expectation: Any, outcome: Outcome, value: object, actual: str, reason: str, field: str | None
) -> None:
    missed = expectation.check(outcome, value)
    assert isinstance(missed, Missed)
    assert (missed.actual, missed.reason, missed.field) == (actual, reason, field)


QUEUES = View(
    "queues", lambda reply: reply.body, ("queueDatas",), ("read", "write"), "body.queueDatas by brokerName"
)


@pytest.mark.parametrize(
    ("view", "expected", "value", "lines"),
    [
        (
            View("master", lambda reply: reply.ext, columns=("masterAddr", "haServerAddr")),
            ("a:1", ANYTHING),
            (None, None),
            (
                'reply SUCCESS (0), extFields: {masterAddr: "a:1", haServerAddr: anything}',
                "reply SUCCESS (0), extFields: {masterAddr: absent, haServerAddr: absent}",
                "differs at masterAddr",
            ),
        ),
        (
            View("changed", lambda reply: reply.ext, columns=("changed",)),
            True,
            None,
            (
                "reply SUCCESS (0), extFields.changed: true",
                "reply SUCCESS (0), extFields.changed: absent",
                "",
            ),
        ),
        (
            QUEUES,
            {"b": (4, 8)},
            {"b": (4, 4)},
            (
                "reply SUCCESS (0), body.queueDatas by brokerName: {b: {read: 4, write: 8}}",
                "reply SUCCESS (0), body.queueDatas by brokerName: {b: {read: 4, write: 4}}",
                "differs at b.write",
            ),
        ),
        (
            QUEUES,
            Including({"b": (4, 8)}),
            {},
            (
                "reply SUCCESS (0), body.queueDatas by brokerName: including {b: {read: 4, write: 8}}",
                "reply SUCCESS (0), body.queueDatas by brokerName: {}",
                "differs at b",
            ),
        ),
        (
            View("addresses", lambda reply: reply.body, ("brokerAddrTable", "b-1", "brokerAddrs")),
            {0: "a:1"},
            Unreadable("cut", 0, 3),
            (
                'reply SUCCESS (0), body.brokerAddrTable["b-1"].brokerAddrs: {0: "a:1"}',
                'reply SUCCESS (0), body.brokerAddrTable["b-1"].brokerAddrs unreadable: cut (body bytes 0–3)',
                "",
            ),
        ),
        (
            View("queue offset", lambda reply: reply.ext),
            3,
            DataVersion(counter=1, state_version=2),
            (
                "reply SUCCESS (0), queue offset: 3",
                "reply SUCCESS (0), queue offset: {counter: 1, timestamp: 0, stateVersion: 2}",
                "",
            ),
        ),
    ],
)
def test_a_value_is_called_as_its_view_calls_it(
    view: View, expected: object, value: object, lines: tuple[str, str, str]
) -> None:
    missed = Reply(0, expected).check(replied(), value, view)
    assert isinstance(missed, Missed)
    assert (*Reply(0, expected).alternatives(view), missed.actual, missed.reason) == lines


def test_where_a_long_value_is_cut_the_difference_is_said() -> None:
    before = {f"setting{number}": "x" * 20 for number in range(40)}
    missed = Reply(0, before).check(replied(), {**before, "setting20": "y"})
    assert isinstance(missed, Missed)
    assert missed.reason == f'differs at setting20: expected "{"x" * 20}", actual "y"'
    gone = Reply(0, before).check(replied(), dict.fromkeys(list(before)[:-1], "x" * 20))
    assert isinstance(gone, Missed)
    assert gone.reason == f'differs at setting39: expected "{"x" * 20}", actual absent'


def test_what_should_be_absent_and_is_null_is_called_null() -> None:
    missed = Reply(0, {"topicList": []}).check(replied(), {"topicList": [], "brokerAddr": None})
    assert isinstance(missed, Missed)
    assert missed.actual == "reply SUCCESS (0), {topicList: [], brokerAddr: null}"


@pytest.mark.parametrize("outcome", NO_REPLIES)
def test_no_reply_misses_every_reply(outcome: Outcome) -> None:
    for expectation in (Reply(0), Reply((0, 1)), Unchanged(answer(replied(), None))):
        missed = expectation.check(outcome, None)
        assert missed == Missed(str(outcome))


@pytest.mark.parametrize("outcome", [STALLED, CLOSED, RESET, CLOSED_BY_US, GARBLED])
def test_only_silence_is_silence(outcome: Outcome) -> None:
    assert Silence().check(outcome, None) == Missed(str(outcome), is_other=True)


@pytest.mark.parametrize("outcome", [SILENT, STALLED, CLOSED_BY_US, GARBLED])
def test_only_a_close_by_the_target_is_closed(outcome: Outcome) -> None:
    assert Closed().check(outcome, None) == Missed(str(outcome), is_other=True)


def test_a_tolerated_alternative_is_met_and_says_which() -> None:
    expectation = AnyOf(Reply(0), deviates=[Closed()])
    assert expectation.check(replied(), None) == Met()
    unmet = expectation.judge(CLOSED, None, EXCHANGE)
    assert unmet is not None
    assert (unmet.expected, unmet.actual) == (("reply SUCCESS (0)",), str(CLOSED))
    assert isinstance(expectation.check(SILENT, None), Missed)


def test_a_tolerated_alternative_inside_another_choice_is_still_said() -> None:
    inner = AnyOf(Reply(0), deviates=[Reply(1)])
    unmet = AnyOf(inner, Closed()).judge(replied(code=1), None, EXCHANGE)
    assert unmet is not None
    assert unmet.expected == ("reply SUCCESS (0)", str(Closed()))
    assert unmet.actual == "reply SYSTEM_ERROR (1)"


def test_only_what_may_be_silent_asks_for_a_probe() -> None:
    assert Silence().silence_is_an_answer
    assert AnyOf(Reply(0), Silence()).silence_is_an_answer
    assert AnyOf(Reply(0), deviates=[Silence()]).silence_is_an_answer
    for expectation in (Reply(0), Closed(), AnyOf(Reply(0), Closed())):
        assert not expectation.silence_is_an_answer


def answer(outcome: Replied, value: object) -> Answer:
    return Answer(outcome.command, value, outcome, Mark(0.0, 0.0))


def test_unchanged_compares_code_and_value_and_nothing_else() -> None:
    before = answer(replied(opaque=1, version=1), {"a": 1})
    assert Unchanged(before).check(replied(opaque=2, version=2), {"a": 1}) == Met()
    assert isinstance(Unchanged(before).check(replied(), {"a": 2}), Missed)
    assert isinstance(Unchanged(before).check(replied(code=1), {"a": 1}), Missed)
    with pytest.raises(ValueError, match="had none"):
        Unchanged(Answer(None, None, SILENT, Mark(0.0, 0.0)))


@pytest.mark.parametrize(
    ("expectation", "line"),
    [
        (Reply(SUCCESS), "reply SUCCESS (0)"),
        (Reply((0, 99)), "reply SUCCESS (0) or 99"),
        (
            Reply(17, remark=ABSENT, ext={"a": "b"}),
            'reply TOPIC_NOT_EXIST (17), remark absent, extFields {a: "b"}',
        ),
        (Reply(0, {"T": (4, 4)}), "reply SUCCESS (0), {T: [4, 4]}"),
        (Silence(), "no reply, while the connection goes on to serve"),
        (Closed(), "the target closes the connection, without a reply"),
        (
            AnyOf(Reply(0), deviates=[Closed()]),
            "reply SUCCESS (0) or the target closes the connection, without a reply",
        ),
        (Unchanged(answer(replied(), 5)), "as before: reply SUCCESS (0), 5"),
    ],
)
def test_renders_in_one_line(expectation: object, line: str) -> None:
    assert str(expectation) == line


def test_unmet_lists_the_alternatives_and_points_at_the_header_field() -> None:
    with pytest.raises(Unmet) as caught:
        AnyOf(Reply(0), Closed()).judge(replied(code=17), None, EXCHANGE)
    unmet = caught.value
    assert unmet.expected == ("reply SUCCESS (0)", "the target closes the connection, without a reply")
    assert unmet.actual == "reply TOPIC_NOT_EXIST (17)"
    assert unmet.decisive is not None
    assert (unmet.decisive.part, unmet.decisive.excerpt, unmet.decisive.event) == ("frame", b"17", 6)


def test_unmet_by_a_value_points_at_the_place_of_the_first_difference() -> None:
    with pytest.raises(Unmet) as caught:
        Reply(0, {"b": {0: "x"}}).judge(replied(), {"b": {0: "y"}}, EXCHANGE)
    assert caught.value.decisive is not None
    assert caught.value.decisive.what == "route of T at ('b', 0)"


@pytest.mark.parametrize(
    ("expectation", "outcome", "value", "kind"),
    [
        (Reply(0), replied(code=17), None, "code 17"),
        (Reply(0, remark="x"), replied(), None, "field remark"),
        (Closed(), replied(), None, "code 0"),
        (Reply(0, {"b": {0: "x"}}), replied(), {"b": {0: "y"}}, 'addresses differs at ["*"][0]'),
        (Reply(0, {"b": {}, "c": 1}), replied(), {"b": {}}, "addresses lacks at c"),
        (Reply(0, [1]), replied(), Unreadable("no JSON", 0, 1), "addresses unreadable"),
    ],
)
def test_what_goes_wrong_alike_has_one_kind(expectation: Any, outcome: Any, value: object, kind: str) -> None:
    with pytest.raises(Unmet) as caught:
        expectation.judge(outcome, value, EXCHANGE)
    assert caught.value.kind == kind


def test_any_code_may_do() -> None:
    assert Reply(ANYTHING).judge(replied(code=17), None, EXCHANGE) is None
    assert str(Reply(ANYTHING, flag=1)) == "reply with any code, flag 1"


def test_an_expectation_that_means_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="number"):
        Reply("SUCCESS")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="number"):
        Reply(())
    with pytest.raises(ValueError, match="two alternatives"):
        AnyOf(Reply(0))
    with pytest.raises(ValueError, match="two alternatives"):
        AnyOf(deviates=[Reply(0), Reply(1)])


def test_codes_have_names() -> None:
    assert code_name(17) == "TOPIC_NOT_EXIST (17)"
    assert code_name(4711) == "4711"
