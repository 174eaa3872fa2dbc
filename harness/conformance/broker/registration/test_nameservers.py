"""Chapter registration: how a Broker handles the answers of its NameServers."""

from harness.conformance import AnyOf, Including, Reply, Request, Silence, case
from harness.conformance.broker.registrations import (
    AT_START,
    EVERY_SECOND,
    REGISTER,
    all_topics,
    all_topics_with,
    next_of_time,
)
from harness.session import BrokerSession, ReceivedExchange
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
TWO = {
    "namesrvAddr": "{nameserver};{nameserver2}",
    "registerNameServerPeriod": "10000",
    # Apache's next round first waits this long for silent NameServers: usually 24 s in 5.3.
    "registerBrokerTimeoutMills": "6000",
}
NAMED_AGAIN = 120
"""Protocol seconds between two looks at the configured list of NameServers."""
SLAVE = {"brokerRole": "SLAVE", "brokerId": "1", "unused": "{nameserver2}"}


@case(
    "bk.registration.comes-again-after-a-refusal",
    "bk.registration.comes-again-after-a-closed-connection",
    "bk.registration.comes-again-after-silence",
    kills=["gives-up-after-refusal", "gives-up-after-silence"],
    clock=True,
    setup=EVERY_SECOND,
)
def test_failed_registration_is_repeated(bk: BrokerSession) -> None:
    """A Broker registers again, however the last registration ended."""
    bk.nameserver.answers(REGISTER, ResponseCode.SYSTEM_ERROR, remark="crc32 not match")
    next_of_time(bk, period=40)
    bk.nameserver.closes_on(REGISTER)
    next_of_time(bk, period=10)
    bk.nameserver.ignores(REGISTER)
    ignored = next_of_time(bk, period=20)
    again = next_of_time(bk, ignored, 40)
    bk.nameserver.behaves()
    next_of_time(bk, again, 40)
    bk.advance(30)


@case(kills=["gives-up-after-nonsense", "gives-up-after-a-bad-table"], clock=True, setup=EVERY_SECOND)
def test_comes_again_after_nonsense(bk: BrokerSession) -> None:
    bk.nameserver.talks_nonsense(REGISTER)
    nonsense = next_of_time(bk, period=40)
    next_of_time(bk, nonsense, 40)
    bk.nameserver.answers(REGISTER, body=b"{nonsense")
    again = next_of_time(bk, next_of_time(bk, period=40), 40)
    bk.nameserver.behaves()
    next_of_time(bk, again, 40)


@case(
    "bk.registration.goes-to-every-nameserver",
    "bk.registration.silent-nameserver-delays-no-other",
    kills=["registers-with-the-first-only", "nameservers-wait-for-each-other"],
    clock=True,
    own_server=True,  # where another case made a topic, its announcement would wait, and others with it
    setup=TWO,
)
def test_silent_nameserver_delays_no_other(bk: BrokerSession) -> None:
    """Every NameServer gets a registration, even while another one does not answer."""
    for server in bk.nameservers:
        told = server.next(REGISTER, within=40)
        told >> Request(REGISTER, ext=Including({"brokerName": bk.broker_name}))
    first, second = bk.nameservers
    first.ignores(REGISTER)
    heard = next_of_time(bk, at=second, period=40)
    for _ in range(3):
        heard = next_of_time(bk, heard, 10, at=second)


@case(
    "bk.registration.absent-nameserver-delays-no-other",
    "bk.registration.returning-nameserver-gets-a-registration",
    kills=["absent-nameserver-holds-up-others", "absent-nameserver-is-forgotten"],
    clock=True,
    setup=TWO,
)
def test_returning_nameserver_gets_a_registration(bk: BrokerSession) -> None:
    """A NameServer that has gone delays no other, and gets a registration when it is back."""
    first, second = bk.nameservers
    first.goes_down()
    heard = next_of_time(bk, at=second, period=40)
    heard = next_of_time(bk, heard, 10, at=second)
    next_of_time(bk, heard, 10, at=second)
    first.comes_up()
    next_of_time(bk, at=first, period=40)


@case(
    kills=["list-of-nameservers-is-fixed", "nameservers-are-only-added"],
    clock=True,
    own_server=True,
    setup=EVERY_SECOND,
)
def test_goes_to_nameservers_that_are_named_later(bk: BrokerSession) -> None:
    first, second = bk.nameservers[:2]
    heard = next_of_time(bk, period=40)
    bk.update_config({"namesrvAddr": second.address}) >> Reply(SUCCESS)
    latest = NAMED_AGAIN + 60 + bk.jitter
    asked = second.next(REGISTER, since=heard, within=latest, where=all_topics)
    told = asked >> Request(REGISTER, ext=Including({"brokerName": bk.broker_name}))
    next_of_time(bk, told, 40, at=second)
    first.next(REGISTER, since=bk.mark(), within=40) >> Silence()


ORDERED = b'{"table":{"%s":"probed:4"}}'


@case(
    "bk.registration.order-is-taken-over",
    "bk.registration.order-raises-the-data-version",
    "bk.registration.no-table-keeps-the-order",
    kills=["order-is-not-taken-over", "order-keeps-the-data-version", "no-table-is-an-empty-table"],
    clock=True,
    setup=EVERY_SECOND,
)
def test_order_is_taken_over(bk: BrokerSession) -> None:
    """Topics that an answer names are ordered from that moment on."""
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=60 + bk.jitter, where=all_topics_with(topic))
    heard.ordered(topic) >> Request(REGISTER, False)
    before = heard.counter >> Request(REGISTER)
    both = b'{"table":{"%s":"probed:4","SELF_TEST_TOPIC":"probed:1"}}'
    bk.nameserver.answers(REGISTER, body=both % topic.encode())
    told = next_of_time(bk, period=10)
    bk.nameserver.behaves()
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)
    heard.ordered("SELF_TEST_TOPIC") >> Request(REGISTER, True)
    heard.ordered("OFFSET_MOVED_EVENT") >> Request(REGISTER, False)
    after = heard.counter_above(before.value) >> Request(REGISTER, True)
    heard = bk.nameserver.next(REGISTER, since=after, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)


@case(kills=["every-answer-is-applied"], clock=True, setup=TWO)
def test_one_answer_of_a_round_counts(bk: BrokerSession) -> None:
    topics = [bk.topic("first"), bk.topic("second")]
    next_of_time(bk, period=40)
    for server, topic in zip(bk.nameservers, topics, strict=False):
        server.answers(REGISTER, body=ORDERED % topic.encode())
    heard = next_of_time(bk, period=10)
    bk.advance(3)  # both have answered
    for server in bk.nameservers:
        server.behaves()
    later = bk.nameserver.next(REGISTER, since=heard, within=10 + bk.jitter, where=all_topics)
    later.ordered_among(topics) >> AnyOf(*(Request(REGISTER, [topic]) for topic in topics))


@case(kills=["refusals-are-applied"], clock=True, setup=EVERY_SECOND)
def test_refusal_changes_no_order(bk: BrokerSession) -> None:
    topic = bk.topic()
    for code, ordered in ((ResponseCode.SYSTEM_ERROR, False), (SUCCESS, True)):
        bk.nameserver.answers(REGISTER, code, remark="of a test", body=ORDERED % topic.encode())
        told = next_of_time(bk, period=40)
        heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
        heard.ordered(topic) >> Request(REGISTER, ordered)


def order_after_another_table(bk: BrokerSession) -> tuple[ReceivedExchange, str]:
    """The registration after the table of order topics has lost a topic; and the topic."""
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    bk.nameserver.answers(REGISTER, body=ORDERED % topic.encode())
    told = next_of_time(bk, period=40)
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)
    bk.nameserver.answers(REGISTER, body=ORDERED % bk.name("U").encode())
    told = next_of_time(bk, period=10)
    return bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics), topic


@case(kills=["order-49-stays"], clock=True, setup=EVERY_SECOND)
def test_order_that_is_gone_is_taken_back(bk: BrokerSession) -> None:
    heard, topic = order_after_another_table(bk)
    heard.ordered(topic) >> Request(REGISTER, False)


@case(kills=["order-53-is-taken-back"], clock=True, setup=EVERY_SECOND)
def test_order_stays(bk: BrokerSession) -> None:
    heard, topic = order_after_another_table(bk)
    heard.ordered(topic) >> Request(REGISTER, True)


def tell_master(bk: BrokerSession, *, above: int) -> None:
    """Makes answers to registrations name a master, its port this far above the second NameServer's."""
    host, _, port = bk.nameservers[1].address.rpartition(":")
    told = {"masterAddr": f"{host}:{int(port) + above}", "haServerAddr": f"{host}:{int(port) + above + 1}"}
    bk.nameserver.answers(REGISTER, ext=told)


@case(
    "bk.registration.slave-says-its-id",
    "bk.registration.slave-asks-the-master-that-is-named",
    kills=["slave-registers-as-master", "told-master-is-ignored"],
    clock=True,
    setup=SLAVE,
)
def test_slave_asks_the_master_that_is_named(bk: BrokerSession) -> None:
    """A slave registers its id and queries the master that an answer names: topics at the port for other
    Brokers, offsets and groups at the public port.
    """
    bk.nameserver.next(REGISTER, within=AT_START) >> Request(REGISTER, ext=Including({"brokerId": "1"}))
    master, topics = bk.nameservers[1], RequestCode.GET_ALL_TOPIC_CONFIG
    tell_master(bk, above=2)
    told = next_of_time(bk)
    master.next(topics, since=told, within=90 + bk.jitter) >> Request(topics, flag=0)
    tell_master(bk, above=0)
    told = next_of_time(bk)
    for code in (RequestCode.GET_ALL_CONSUMER_OFFSET, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG):
        master.next(code, since=told, within=90 + bk.jitter) >> Request(code, flag=0)


@case(kills=["master-asks-a-told-master"], clock=True, setup=EVERY_SECOND)
def test_master_asks_no_other_broker(bk: BrokerSession) -> None:
    tell_master(bk, above=2)
    told = next_of_time(bk, period=40)
    bk.nameservers[1].next(RequestCode.GET_ALL_TOPIC_CONFIG, since=told, within=70) >> Silence()
