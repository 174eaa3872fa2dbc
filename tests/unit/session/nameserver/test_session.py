"""The facade, against the reference in virtual time."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from harness.session import (
    Blocked,
    Misuse,
    NameServerSession,
    Replied,
    TooLate,
    Unjudged,
    Unmet,
    Unreadable,
)
from harness.targets import parse
from harness.trace import Sent
from session.helpers import Code, Gone, Met, Quiet

SUCCESS, TOPIC_NOT_EXIST = 0, 17


@pytest.fixture(params=["4.9", "5.3"])
def ns(request: pytest.FixtureRequest) -> Generator[NameServerSession]:
    with NameServerSession(parse(f"builtin:{request.param}").start(), request.param, seed=7) as session:
        yield session


@pytest.fixture
def ns53() -> Generator[NameServerSession]:
    with NameServerSession(parse("builtin:5.3").start(), "5.3", seed=7) as session:
        yield session


def test_views_of_a_route(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (3, 5, 6), "B": (1, 1, 4, 2)})
    broker.register() >> Code(SUCCESS)
    route = ns.route(broker.topic("A"))
    route.queues >> Code(SUCCESS, {broker.name: (3, 5, 6, 0)})
    route.addresses >> Code(SUCCESS, {broker.name: {0: broker.address}})
    assert (route.brokers >> Code(SUCCESS)).value[broker.name]["cluster"] == broker.cluster
    assert (route.json >> Code(SUCCESS)).value["filterServerTable"] == {}
    assert (route.text >> Code(SUCCESS)).value.startswith(b'{"brokerDatas"')
    ns.route(broker.topic("B")).queues >> Code(SUCCESS, {broker.name: (1, 1, 4, 2)})


def test_views_of_the_cluster(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Code(SUCCESS)
    cluster = ns.cluster()
    cluster.addresses(broker.name) >> Code(SUCCESS, {0: broker.address})
    cluster.addresses("nobody") >> Code(SUCCESS, None)
    cluster.clusters(broker.name) >> Code(SUCCESS, [broker.cluster])
    cluster.names(broker.cluster) >> Code(SUCCESS, [broker.name])
    cluster.names("nothing") >> Code(SUCCESS, None)
    assert (cluster.broker(broker.name) >> Code(SUCCESS)).value["brokerName"] == broker.name


def test_a_slave_learns_its_master(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = ns.broker(id=1, name=master.name, cluster=master.cluster, ha=ns.address())
    master.register().master >> Code(SUCCESS, (None, None))
    slave.register().master >> Code(SUCCESS, (master.address, master.ha))


def test_data_versions(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Code(SUCCESS)
    asked = broker.query_version()
    asked.changed >> Code(SUCCESS, False)
    asked.stored >> Code(SUCCESS, broker.version)
    broker.query_version(broker.newer()).changed >> Code(SUCCESS, True)
    assert broker.newer(-1).counter == broker.version.counter - 1


def test_kv_and_lists(ns: NameServerSession) -> None:
    namespace = ns.name("namespace")
    ns.put_kv(namespace, "k", "v") >> Code(SUCCESS)
    ns.get_kv(namespace, "k").value >> Code(SUCCESS, "v")
    ns.list_kv(namespace).table >> Code(SUCCESS, {"k": "v"})
    ns.delete_kv(namespace, "k") >> Code(SUCCESS)
    ns.get_kv(namespace, "k").value >> Code(22, None)


def test_topics_and_write_permission(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Code(SUCCESS)
    a, b = broker.topic("A"), broker.topic("B")
    ns.topics().among([b, a, "none"]) >> Code(SUCCESS, sorted([a, b]))
    ns.wipe_write_perm(broker.name).count >> Code(SUCCESS, 2)
    ns.add_write_perm(broker.name).count >> Code(SUCCESS, 2)


def test_lists_of_topics(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (1, 1, 6, 1), "B": (1, 1, 6, 2), "C": (1, 1, 6, 3)})
    broker.register() >> Code(SUCCESS)
    a, b, c = sorted(broker.topics)
    ns.cluster_topics(broker.cluster).among(broker.topics) >> Code(SUCCESS, [a, b, c])
    ns.unit_topics().among(broker.topics) >> Code(SUCCESS, [a, c])
    ns.unit_sub_topics().among(broker.topics) >> Code(SUCCESS, [b, c])
    ns.unit_sub_only_topics().among(broker.topics) >> Code(SUCCESS, [b])
    system = ns.system_topics()
    system.among([broker.name, broker.cluster, a]) >> Code(SUCCESS, sorted([broker.name, broker.cluster]))
    system.address >> Code(SUCCESS, broker.address)
    ns.topics().address >> Code(SUCCESS, None)


def test_topics_are_deleted_and_registered(ns53: NameServerSession) -> None:
    broker = ns53.broker()
    broker.register() >> Code(SUCCESS)
    topic = broker.topic("A")
    ns53.delete_topic(topic, ns53.name("cluster")) >> Code(SUCCESS)
    ns53.route(topic) >> Code(SUCCESS)
    ns53.delete_topic(topic) >> Code(SUCCESS)
    ns53.route(topic).order >> Code(TOPIC_NOT_EXIST, None)
    ns53.register_topic(topic, {broker.name: (1, 2, 4, 3)}) >> Code(SUCCESS)
    route = ns53.route(topic)
    route.queues >> Code(SUCCESS, {broker.name: (1, 2, 4, 3)})
    route.filters >> Code(SUCCESS, {})
    route.mappings >> Code(SUCCESS, None)
    ns53.register_topic(topic, body=b"{{") >> Code(1)


def test_member_group_and_heartbeat(ns53: NameServerSession) -> None:
    broker = ns53.broker()
    broker.register() >> Code(SUCCESS)
    broker.heartbeat() >> Code(SUCCESS)
    group = ns53.member_group(broker.cluster, broker.name)
    group.addresses >> Code(SUCCESS, {0: broker.address})
    group.cluster >> Code(SUCCESS, broker.cluster)
    group.broker_name >> Code(SUCCESS, broker.name)


@pytest.mark.parametrize("crc", [None, "right"])
def test_compressed_registration(ns: NameServerSession, crc: str | None) -> None:
    broker = ns.broker()
    broker.register(compressed=True, crc=crc) >> Code(SUCCESS)
    assert list((ns.route(broker.topic("A")).queues >> Code(SUCCESS)).value) == [broker.name]


def test_every_part_of_a_registration_can_be_another(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A", "B", "C"])
    other, cluster = ns.address(), ns.name("cluster")
    broker.register(
        ["A", "B"], broker.newer(), id=3, address=other, cluster=cluster, ext={"haServerAddr": None, "x": 1}
    ) >> Code(SUCCESS)
    ns.cluster().addresses(broker.name) >> Code(SUCCESS, {3: other})
    ns.cluster().clusters(broker.name) >> Code(SUCCESS, [cluster])
    broker.register(crc=1) >> Code(1)
    broker.register(body=b"{") >> Code(1)
    exchange = broker.register(announces=123, opaque=-9, language="GO")
    exchange >> Met()
    assert exchange.request is not None
    assert (exchange.request.version, exchange.request.opaque, exchange.request.language) == (123, -9, "GO")


def test_a_topic_has_one_name_in_a_session(ns: NameServerSession) -> None:
    assert ns.broker().topic("A") == ns.broker().topic("A") == ns.topic("A")
    assert ns.topic(ns.topic("A")) == ns.topic("A")
    assert ns.name("A") != ns.name("A")


def test_a_lease_in_virtual_time(ns: NameServerSession) -> None:
    broker = ns.broker()
    leased = broker.register() >> Code(SUCCESS)
    ns.advance_short_of(120, since=leased)
    assert ns.now() == 120
    ns.route(broker.topic("A")) >> Code(SUCCESS)
    ns.advance_past(120, since=leased)
    assert ns.now() == 120 + ns.scan_interval
    ns.settle()
    ns.route(broker.topic("A")) >> Code(TOPIC_NOT_EXIST)
    broker.connection.closes() >> Gone()


def test_connections_are_kept_busy_and_idle_ones_are_not(ns: NameServerSession) -> None:
    busy, idle = ns.connect(), ns.connect()
    ns.advance(500, idle=[idle])
    idle.closes() >> Gone()
    assert busy.is_open
    busy.call(106) >> Code(SUCCESS)


def test_an_idle_connection_stays_idle_until_it_is_used(ns: NameServerSession) -> None:
    used, unused = ns.connect(), ns.connect()
    ns.advance(100, idle=[used, unused])
    used.call(106) >> Code(SUCCESS)
    ns.advance(200)
    unused.closes() >> Gone()
    assert used.is_open


def test_a_term_that_is_over_is_too_late(ns: NameServerSession) -> None:
    mark = ns.mark()
    ns.advance(121)
    with pytest.raises(TooLate, match=r"were over 1\.0 s before"):
        ns.advance_short_of(120, since=mark)


def test_what_is_unmet_after_the_term_is_too_late(ns: NameServerSession) -> None:
    ns.advance_short_of(10)
    ns.clock.pause(1)
    with pytest.raises(TooLate, match="too slow for this clock"):
        ns.route("T") >> Code(SUCCESS)
    ns.advance(1)
    with pytest.raises(Unmet):
        ns.route("T") >> Code(SUCCESS)


def test_what_is_met_in_the_end_only_after_the_term_is_too_late(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register() >> Code(SUCCESS)
    ns.while_lasts(120, since)
    ns.cluster().eventually() >> Code(SUCCESS)
    ns.clock.pause(125)  # the machine had something else to do, and the lease has ended
    with pytest.raises(TooLate, match=r"what was expected came 5\.0 protocol seconds after the term"):
        ns.route(broker.topic("A")).eventually() >> Code(TOPIC_NOT_EXIST)
    ns.route(broker.topic("A")) >> Code(TOPIC_NOT_EXIST)


def test_eventually_asks_again(ns53: NameServerSession) -> None:
    broker = ns53.broker()
    broker.register() >> Code(SUCCESS)
    broker.unregister() >> Code(SUCCESS)
    ns53.route(broker.topic("A")).queues.eventually() >> Code(TOPIC_NOT_EXIST, None)


def test_eventually_gives_up(ns: NameServerSession) -> None:
    began = ns.now()
    with pytest.raises(Unmet):
        ns.route("T").eventually() >> Code(SUCCESS)
    assert 2 <= ns.now() - began < 2.2


def test_eventually_is_for_questions(ns: NameServerSession) -> None:
    exchange = ns.connect().closes()
    with pytest.raises(Misuse, match="only once"):
        exchange.eventually()
    exchange >> Met()


def test_settle_waits_for_what_was_left_to_do(ns: NameServerSession) -> None:
    first, second = ns.broker(), ns.broker(topics=["C", "D"])
    first.register() >> Code(SUCCESS)
    second.register() >> Code(SUCCESS)
    first.unregister() >> Code(SUCCESS)
    second.connection.close()
    ns.settle()
    ns.route(first.topic("A")) >> Code(TOPIC_NOT_EXIST)
    ns.route(second.topic("C")) >> Code(TOPIC_NOT_EXIST)
    assert {event.purpose for event in ns.trace.events if isinstance(event, Sent)} == {"case", "barrier"}


@pytest.mark.parametrize(
    ("mutant", "problem"),
    [
        (
            "unregistration-is-ignored",
            "a broker that the harness registered is still routed 2 s after 104 UNREGISTER_BROKER",
        ),
        (
            "accepts-every-request",
            "that the harness made up was accepted, and its topic has no route",
        ),
        ("serves-probes-and-refuses-others", "103 REGISTER_BROKER got: reply SYSTEM_ERROR (1)"),
    ],
)
def test_settling_is_blocked_where_its_sentinels_do_not_come_or_go(mutant: str, problem: str) -> None:
    instance = parse(f"builtin:4.9?mutant={mutant}").start()
    with NameServerSession(instance, "4.9", seed=7) as ns, pytest.raises(Blocked, match=re.escape(problem)):
        ns.settle()


def test_restart_keeps_what_is_on_disk_and_nothing_else(ns: NameServerSession) -> None:
    broker, namespace = ns.broker(), ns.name("namespace")
    broker.register() >> Code(SUCCESS)
    ns.put_kv(namespace, "k", "v") >> Code(SUCCESS)
    ns.restart()
    broker.connection.closes() >> Gone()
    ns.get_kv(namespace, "k").value >> Code(SUCCESS, "v")
    ns.route(broker.topic("A")) >> Code(TOPIC_NOT_EXIST)


def test_silence_and_malformed_frames(ns: NameServerSession) -> None:
    ns.call(106, flag=2) >> Quiet()
    ns.connect().send_raw(b"\xff" * 16) >> Gone()
    ns.connect().send_raw(b"\0\0\1\0") >> Quiet()
    half = ns.connect()
    half.write(b"\0\0")
    half.half_close()
    half.closes() >> Gone()


def test_a_reset_connection_takes_its_broker_with_it(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Code(SUCCESS)
    broker.connection.reset()
    ns.route(broker.topic("A")).eventually() >> Code(TOPIC_NOT_EXIST)
    with pytest.raises(Misuse, match="closed by the case"):
        broker.register()
    broker.reconnect()
    broker.register() >> Code(SUCCESS)


def test_a_failure_shows_the_decisive_bytes(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Code(SUCCESS)
    with pytest.raises(Unmet) as caught:
        ns.cluster().addresses(broker.name) >> Code(SUCCESS, {})
    decisive, outcome = caught.value.decisive, caught.value.outcome
    assert isinstance(outcome, Replied)
    assert decisive is not None
    assert decisive.part == "body"
    assert outcome.command.body[decisive.start : decisive.end] == decisive.excerpt
    assert decisive.excerpt.startswith(b'{0:"10.')
    assert f"#{outcome.event} ← 106 GET_BROKER_CLUSTER_INFO, body bytes" in str(caught.value)


def test_a_question_that_is_never_judged_is_an_error() -> None:
    session = NameServerSession(parse("builtin:").start(), "5.3")
    session.route("T")
    with pytest.raises(Unjudged, match="105 GET_ROUTEINFO_BY_TOPIC of T"):
        session.finish()
    session.close()
    with pytest.raises(ZeroDivisionError), NameServerSession(parse("builtin:").start(), "5.3") as other:
        other.route("T")
        raise ZeroDivisionError


def test_a_tolerated_alternative_is_kept(ns: NameServerSession) -> None:
    ns.route("T") >> Code(TOPIC_NOT_EXIST, instead_of="a closed connection")
    (kept,) = ns.tolerated
    assert kept.exchange.subject == "105 GET_ROUTEINFO_BY_TOPIC of T"
    assert kept.expected == ("a closed connection",)


def test_the_head_of_the_trace_tells_the_names(ns: NameServerSession) -> None:
    name = ns.name("T")
    header = ns.trace.header
    assert header.names[name] == "T"
    assert (header.clock, header.warp, header.profile) == ("virtual", 0.0, ns.profile.name)
    assert ns.nonce in name


def test_one_seed_gives_one_set_of_names() -> None:
    def names(seed: int) -> list[str]:
        session = NameServerSession(parse("builtin:").start(), "5.3", seed=seed)
        return [session.name("T"), session.address(), session.topic("A")]

    assert names(1) == names(1) != names(2)


def test_bodies_that_are_not_as_they_should_be() -> None:
    """Checked on a view alone: the reference makes no such bodies."""
    from harness.session.exchange import View
    from harness.wire import FLAG_RESPONSE, Command

    session = NameServerSession(parse("builtin:").start(), "5.3")
    exchange = session.route("T").queues
    exchange >> Met()

    def look(body: bytes, view: View = exchange._view) -> object:
        reply = Replied(connection=1, event=0, command=Command(flag=FLAG_RESPONSE, body=body), frame=b"")
        return exchange.look(reply)

    broken = look(b'{"queueDatas":[{"brokerName":"b","perm":"x"}]}')
    assert isinstance(broken, Unreadable)
    assert "readQueueNums" in str(broken)
    assert (broken.start, broken.end) == (15, 44)
    assert isinstance(look(b"{"), Unreadable)
    assert isinstance(look(b"[]"), Unreadable)
    twice = look(b'{"queueDatas":[' + b",".join([b'{"brokerName":"b"}'] * 2) + b"]}")
    assert isinstance(twice, Unreadable)
    assert "twice" in twice.problem
    assert twice != {}
