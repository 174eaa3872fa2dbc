"""What holds for all inputs: no bytes raise, no cutting of a stream matters, the rules of the table hold."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.wire import Command, RawFrame, Serialization, encode
from harness.wire.bodies import DataVersion, RegisterBody
from reference_impl.nameserver import Close, Effect, Send, build

from .driver import Driver, topic

PROFILES = st.sampled_from(["4.9", "5.3"])
CODES = st.sampled_from([100, 101, 102, 103, 104, 105, 106, 205, 206, 219, 322, 327, 901, 904, 999])
FIELDS = st.sampled_from(
    [
        "brokerName",
        "brokerAddr",
        "brokerId",
        "clusterName",
        "topic",
        "namespace",
        "key",
        "value",
        "compressed",
        "bodyCrc32",
        "heartbeatTimeoutMillis",
        "enableActingMaster",
        "__ZONE_MODE",
        "__ZONE_NAME",
    ]
)
VALUES = st.sampled_from(["", "0", "1", "-1", "x", "true", "TA", "9" * 30]) | st.text(max_size=5)
BODIES = st.sampled_from(
    [b"", b"null", b"{}", b"{{", DataVersion(1, 2, 3).encode(), RegisterBody({"TA": topic("TA")}).encode()]
) | st.binary(max_size=40)
COMMANDS = st.builds(
    Command,
    code=CODES,
    opaque=st.integers(-(2**31), 2**31 - 1),
    flag=st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
    version=st.sampled_from([0, 36, 37, 400, 401, 413, 479, -1, 2**31 - 1]),
    ext=st.none() | st.dictionaries(FIELDS, VALUES, max_size=8),
    body=BODIES,
    serialization=st.sampled_from(list(Serialization)),
)
FRAMES = (
    COMMANDS.map(encode)
    | st.builds(RawFrame, header=st.binary(max_size=30), body=st.binary(max_size=10)).map(RawFrame.encode)
    | st.binary(max_size=20)
)


def _outcome(effects: list[Effect]) -> tuple[bytes, bool]:
    sent = b"".join(effect.data for effect in effects if isinstance(effect, Send))
    return sent, any(isinstance(effect, Close) for effect in effects)


@settings(deadline=None)
@given(PROFILES, st.lists(FRAMES, max_size=6), st.lists(st.integers(1, 400), max_size=12))
def test_the_cutting_of_a_stream_does_not_matter(profile: str, frames: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frames)
    whole, cut = build(profile), build(profile)
    for endpoint in (whole, cut):
        endpoint.connected(1, "p:1", 0)
    expected = _outcome(whole.received(1, stream, 0))
    effects: list[Effect] = []
    rest = stream
    for size in cuts:
        effects += cut.received(1, rest[:size], 0)
        rest = rest[size:]
    effects += cut.received(1, rest, 0)
    assert _outcome(effects) == expected
    assert cut.routes.brokers == whole.routes.brokers


@settings(deadline=None)
@given(PROFILES, st.lists(FRAMES, max_size=6), st.lists(st.integers(1, 400), max_size=12), st.booleans())
def test_memory_that_is_read_into_may_be_used_again(
    profile: str, frames: list[bytes], cuts: list[int], is_bit_by_bit: bool
) -> None:
    stream = b"".join(frames)
    kept, reused = build(profile), build(profile)
    for endpoint in (kept, reused):
        endpoint.connected(1, "p:1", 0)
    expected = _outcome(kept.received(1, stream, 0))
    room = bytearray(max(1, len(stream)))
    effects: list[Effect] = []
    for size in (*cuts, len(stream)):
        part, stream = stream[:size], stream[size:]
        room[: len(part)] = part
        effects += reused.received(1, memoryview(room)[: len(part)], 0, 1 if is_bit_by_bit else None)
        room[:] = bytes(len(room))
        while reused.has_waiting(1):
            effects += reused.received(1, b"", 0, 1)
    assert _outcome(effects) == expected
    assert reused.routes.brokers == kept.routes.brokers


@settings(deadline=None)
@given(PROFILES, st.binary(max_size=300))
def test_no_bytes_raise(profile: str, data: bytes) -> None:
    endpoint = build(profile)
    endpoint.connected(1, "p:1", 0)
    endpoint.received(1, data, 0)
    endpoint.tick(1_000_000)


NAMES = st.sampled_from(["a", "b"])
ADDRESSES = st.sampled_from(["1:1", "2:2", "3:3"])
STEPS = st.one_of(
    st.tuples(
        st.just("register"),
        NAMES,
        ADDRESSES,
        st.integers(0, 2),
        st.sampled_from(["c", "d"]),
        st.lists(st.sampled_from(["TA", "TB", "TC"]), max_size=3, unique=True),
        st.integers(0, 2),
        st.sampled_from([None, "true", "false"]),
        st.integers(0, 2),
    ),
    st.tuples(st.just("unregister"), NAMES, ADDRESSES, st.integers(0, 2), st.sampled_from(["c", "d"])),
    st.tuples(st.just("lose"), st.integers(0, 2)),
    st.tuples(st.just("wipe"), NAMES),
    st.tuples(st.just("advance"), st.sampled_from([1, 60, 121])),
)


@settings(deadline=None)
@given(PROFILES, st.lists(STEPS, max_size=20))
def test_the_rules_of_the_table_hold(profile: str, steps: list[tuple[object, ...]]) -> None:
    ns = Driver(profile)
    connections = [ns.connect() for _ in range(3)]
    for step in steps:
        _perform(ns, connections, step)
        ns.settle()
        _check(ns)


def _perform(ns: Driver, connections: list[int], step: tuple[object, ...]) -> None:
    match step:
        case (
            "register",
            str(name),
            str(address),
            int(number),
            str(cluster),
            list(topics),
            int(counter),
            acting,
            int(which),
        ):
            connection = connections[which]
            if connection in ns.closed:
                connection = connections[which] = ns.connect()
            ext = {} if acting is None else {"enableActingMaster": str(acting)}
            ns.register(
                name,
                number,
                address,
                tuple(topics),
                DataVersion(counter, 0, counter),
                cluster,
                ext,
                on=connection,
            )
        case ("unregister", str(name), str(address), int(number), str(cluster)):
            if ns.client in ns.closed:
                ns.client = ns.connect()
            ns.unregister(name, number, address, cluster)
        case ("lose", int(which)):
            ns.lose(connections[which])
            connections[which] = ns.connect()
        case ("wipe", str(name)):
            if ns.client in ns.closed:
                ns.client = ns.connect()
            ns.call(205, {"brokerName": name})
        case ("advance", int(seconds)):
            ns.advance(seconds)


def _check(ns: Driver) -> None:
    table = ns.endpoint.routes
    for broker in table.brokers.values():
        addresses = list(broker.addresses.values())
        assert addresses
        assert len(addresses) == len(set(addresses)), "an address has one id"
        assert any(broker.name in names for names in table.clusters.values())
    for names in table.clusters.values():
        assert names
        assert set(names) <= set(table.brokers)
    for topic_name, queues in table.topics.items():
        assert queues
        assert set(queues) <= set(table.brokers)
        assert table.route(topic_name) is not None
    if ns.client in ns.closed:
        ns.client = ns.connect()
    for name in table.topics:
        shown = ns.route(name)
        assert shown is not None
        fresh = table.route(name)
        assert fresh is not None
        assert shown.queue_datas == fresh.queue_datas, "an encoded route is never stale"
        assert shown.broker_datas == fresh.broker_datas
