"""Chapter data-version: whether a Broker queries before it registers, and how it handles the answer."""

from typing import Any

from harness.conformance import Including, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, all_topics, with_topic
from harness.session import Answer, BrokerSession
from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document, parse

SUCCESS = ResponseCode.SUCCESS
QUERY = RequestCode.QUERY_DATA_VERSION
WITHOUT_FORCE = {
    "forceRegister": "false",
    "registerNameServerPeriod": "10000",
    "transactionCheckInterval": "3600000",
}
"""With its first look for half messages a Broker may create topics, and it registers each of them."""
LATE = 40.0
"""Protocol seconds within which the next question has surely come: what was not answered before is waited
for.
"""


@case(kills=["asks-although-forced", "asks-about-new-topics"], clock=True)
def test_is_not_asked_by_default(bk: BrokerSession) -> None:
    mark = bk.mark()
    bk.advance(1)
    bk.send(bk.name("T")) >> Reply(SUCCESS)
    bk.topic()
    bk.nameserver.next(QUERY, since=mark, within=35) >> Silence()


@case(kills=["asks-at-the-start"], own_server=True, setup=WITHOUT_FORCE)
def test_first_registration_does_not_ask(bk: BrokerSession) -> None:
    bk.nameserver.next() >> Request(REGISTER)


@case(
    "bk.data-version.is-asked-without-force",
    "bk.data-version.question-has-the-version-of-the-registration",
    kills=["registers-without-asking", "question-without-id", "question-has-another-version"],
    clock=True,
    setup=WITHOUT_FORCE,
)
def test_is_asked_without_force(bk: BrokerSession) -> None:
    """Without force a Broker asks before it registers again."""
    said = {
        "brokerName": bk.broker_name,
        "clusterName": bk.cluster_name,
        "brokerAddr": bk.broker_address,
        "brokerId": "0",
    }
    asked = bk.nameserver.next(QUERY, within=LATE)
    asked >> Request(QUERY, ext=Including(said), flag=0)
    registered = bk.nameserver.next(REGISTER, where=all_topics, within=LATE).data_version >> Request(REGISTER)
    asked.data_version >> Request(QUERY, registered.value)


def asked(bk: BrokerSession) -> Answer:
    """The next question."""
    return bk.nameserver.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY)


def body_of(question: Answer) -> bytes:
    """The data version that a Broker asks about, as it was sent."""
    assert question.command is not None
    return question.command.body


@case(
    "bk.data-version.unchanged-is-not-registered",
    "bk.data-version.changed-is-registered",
    kills=["unchanged-is-registered-too", "changed-is-not-registered"],
    clock=True,
    setup=WITHOUT_FORCE,
)
def test_changed_is_registered(bk: BrokerSession) -> None:
    """A Broker registers only if a NameServer reports a change."""
    bk.nameserver.answers(QUERY, ext={"changed": "false"})
    unchanged = asked(bk)
    bk.nameserver.next(REGISTER, since=unchanged, within=8) >> Silence()
    bk.nameserver.answers(QUERY, ext={"changed": "false"}, body=body_of(unchanged))
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Silence()
    bk.nameserver.answers(QUERY, ext={"changed": "true"})
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Request(REGISTER)


@case(
    "bk.data-version.other-version-is-registered",
    "bk.data-version.missing-field-is-registered",
    kills=["answered-version-is-not-compared", "unsaid-is-unchanged"],
    clock=True,
    setup=WITHOUT_FORCE,
)
def test_other_version_is_registered(bk: BrokerSession) -> None:
    """A Broker registers if a NameServer has another version, or does not report whether it changed."""
    own: Any = parse(body_of(asked(bk)))
    for name in own:
        other = document({**own, name: own[name] + 1})
        bk.nameserver.answers(QUERY, ext={"changed": "false"}, body=other)
        bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Request(REGISTER)
    bk.nameserver.answers(QUERY)
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Request(REGISTER)


@case(kills=["nonsense-is-unchanged"], clock=True, setup=WITHOUT_FORCE)
def test_version_that_cannot_be_read_is_registered(bk: BrokerSession) -> None:
    bk.nameserver.answers(QUERY, ext={"changed": "false"})
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Silence()
    bk.nameserver.answers(QUERY, ext={"changed": "false"}, body=b"{")
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Request(REGISTER)


@case(kills=["refusal-is-registered"], clock=True, setup=WITHOUT_FORCE)
def test_refusal_is_not_registered(bk: BrokerSession) -> None:
    bk.nameserver.answers(QUERY, ResponseCode.SYSTEM_ERROR, remark="no")
    bk.nameserver.next(REGISTER, since=asked(bk), within=8) >> Silence()


@case(
    kills=["unreachable-is-unchanged"],
    clock=True,
    setup={**WITHOUT_FORCE, "namesrvAddr": "{nameserver};{nameserver2}"},
)
def test_unreachable_is_registered(bk: BrokerSession) -> None:
    first, second = bk.nameservers
    first.answers(QUERY, ext={"changed": "false"})
    second.answers(QUERY, ext={"changed": "false"})
    unchanged = second.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY)
    second.next(REGISTER, since=unchanged, within=8) >> Silence()
    first.goes_down()
    unchanged = second.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY)
    second.next(REGISTER, since=unchanged, within=8) >> Request(REGISTER)


@case(
    kills=["every-nameserver-calls-for-a-registration"],
    clock=True,
    setup={**WITHOUT_FORCE, "namesrvAddr": "{nameserver};{nameserver2}"},
)
def test_changed_is_registered_once(bk: BrokerSession) -> None:
    for server in bk.nameservers[:2]:
        server.answers(QUERY, ext={"changed": "true"})
    asked = [
        server.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY) for server in bk.nameservers[:2]
    ]
    for server in bk.nameservers[:2]:
        heard = server.next(REGISTER, since=asked[1], within=8) >> Request(REGISTER)
        server.next(REGISTER, since=heard, within=3) >> Silence()


@case(
    kills=["first-nameserver-decides"],
    clock=True,
    setup={**WITHOUT_FORCE, "namesrvAddr": "{nameserver};{nameserver2}"},
)
def test_changed_for_one_is_registered(bk: BrokerSession) -> None:
    first, second = bk.nameservers[:2]
    for one, other in ((first, second), (second, first)):
        one.answers(QUERY, ext={"changed": "false"})
        other.answers(QUERY, ext={"changed": "true"})
        one.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY)
        since = one.next(QUERY, since=bk.mark(), within=LATE) >> Request(QUERY)
        for server in (one, other):
            server.next(REGISTER, since=since, within=8) >> Request(REGISTER)


@case(kills=["topics-are-forgotten"], own_server=True)
def test_survives_a_restart(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    before = bk.nameserver.next(REGISTER, where=with_topic(topic)).counter >> Request(REGISTER)
    stopped = bk.mark()
    bk.restart()
    heard = bk.nameserver.next(REGISTER, since=stopped, where=all_topics, within=600)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))
    heard.counter_above(before.value - 1) >> Request(REGISTER, True)
