"""What the rules of a machine do: steps, chosen with regard to what should exist.

Rules of this module:
- A maker is a function of `Pick` and `Picture` that gives one or more steps. It is pure; all chance comes
  from `Pick`, and so from Hypothesis.
- The first choice is the plainest everywhere: Hypothesis shrinks towards it.
- A maker that finds nothing to work on makes what it needs instead of giving up: a rule is never wasted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from hypothesis import strategies as st

from harness.differential.model import DEFAULT_LEASE, Lease, Model
from harness.machines.picture import Picture, usual
from harness.program.frames import ORDER
from harness.program.steps import (
    AnyRequest,
    AnyStep,
    Close,
    ClusterInfo,
    Configuration,
    Configure,
    Damaged,
    DeleteTopic,
    Heartbeat,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Queues,
    Reconnect,
    Register,
    RegisterTopic,
    Restart,
    Route,
    SystemTopics,
    Time,
    Topics,
    TopicsOfCluster,
    Unit,
    Unknown,
    Unregister,
)

__all__ = ["Maker", "Pick", "drawn", "look"]

T = TypeVar("T")
Steps = tuple[AnyStep, ...]

_BROKERS = ("b0", "b1", "b2")
_CLUSTERS = ("c0", "c0", "c0", "c1")
_TOPICS = ("T0", "T1", "T2", "T3", "U4", "U5", "U6")
_FLAGS = {"U4": 1, "U5": 2, "U6": 3}
"""System flags; a topic has one flag, because 311 to 313 look at one broker only (`RouteInfoManager`)."""
_PERMS = (6, 6, 6, 6, 4, 2)
_SCANS = {True: 5, False: 10}
_ZONES = (None, "z1", "z2")
_TOGGLES_BOTH = ("orderMessageEnable",)
_TOGGLES_FIVE = (
    "supportActingMaster",
    "deleteTopicWithBrokerRegistration",
    "returnOrderTopicConfigToBroker",
    "enableAllTopicList",
    "enableTopicList",
    "orderMessageEnable",
)


@functools.cache
def _up_to(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most)


_HOWS: tuple[Literal["fin", "reset", "half"], ...] = ("fin", "reset", "half")
_WIPE_AND_ADD: tuple[Literal[205, 327], ...] = (205, 327, 205)


class Pick:
    """Chance, from Hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def below(self, end: int) -> int:
        """A number from 0 to ``end`` - 1."""
        return 0 if end <= 1 else self._draw(_up_to(end - 1))

    def one(self, choices: Sequence[T]) -> T:
        """One of them; the first is the plainest."""
        return choices[self.below(len(choices))]

    def once_in(self, times: int) -> bool:
        """True rarely: once in so many times."""
        return self.below(times) == times - 1


Maker = Callable[[Pick, Picture], Steps]


@st.composite
def drawn(draw: Any, make: Maker) -> Steps:
    """The steps of a maker, for the machine that draws them (its ``picture``); at every third time they are
    followed by a question about the last of them.
    """
    picture = draw(st.runner()).picture
    pick = Pick(draw)
    steps = make(pick, picture)
    if pick.once_in(3):
        steps += _question_about(pick, picture, steps[-1])
    return steps


def _question_about(pick: Pick, picture: Picture, step: AnyStep) -> Steps:
    """What would show at once what a step has done."""
    server = getattr(step, "server", 0)
    model = picture.models[server]
    topics: list[str] = []
    match step:
        case Register():
            topics = list(step.topics)
        case DeleteTopic() | RegisterTopic():
            topics = [step.topic]
        case Permission() | Unregister():
            name = model.names.get(step.broker)
            topics = [] if name is None else sorted(name.topics)
        case Kv():
            code: Literal[101, 219] = 219 if pick.once_in(3) else 101
            return (msgspec.structs.replace(step, code=code, drop=()),)
        case Time() | Close() | Restart() | Configure():
            topics = sorted(model.topics)
        case _:
            return ()
    questions: list[AnyStep] = [ClusterInfo(server=server)]
    questions[:0] = [Route(server=server, topic=topic) for topic in topics]
    if isinstance(step, Register | Unregister):
        questions.append(
            QueryVersion(
                server=server,
                cluster=step.cluster,
                broker=step.broker,
                address=step.address,
                counter=getattr(step, "counter", 0),
                state=0 if picture.five else None,
            )
        )
    return (pick.one(questions),)


# --- registration -------------------------------------------------------------------------------------------


def registers(pick: Pick, picture: Picture) -> Steps:
    """A broker that may be new."""
    server = _server(pick, picture)
    model = picture.models[server]
    broker = pick.one(_BROKERS)
    name = model.names.get(broker)
    slot = _BROKERS.index(broker)
    number = pick.one((0, 1, 2, 0, 1, 5)) if name is not None or pick.once_in(3) else 0
    address = f"a{slot}{pick.below(3)}"
    return (
        _registration(
            pick,
            picture,
            server=server,
            cluster=name.cluster if name is not None and not pick.once_in(8) else pick.one(_CLUSTERS),
            broker=broker,
            address=address,
            id=number,
            conn=_conn_of(pick, address),
        ),
    )


def registers_everywhere(pick: Pick, picture: Picture) -> Steps:
    """One broker, at every server."""
    (step,) = registers(pick, picture)
    assert isinstance(step, Register)
    return tuple(msgspec.structs.replace(step, server=server) for server in range(picture.servers))


def registers_again(pick: Pick, picture: Picture) -> Steps:
    """A broker that is there: the same, or with something changed."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    step = _again(pick, picture, server, lease)
    counter, timestamp, state = lease.version
    change = pick.below(9)
    if change == 1:
        step = msgspec.structs.replace(step, counter=counter + 1)
    elif change == 2:
        step = msgspec.structs.replace(step, counter=max(0, counter - 1))
    elif change == 3:
        step = msgspec.structs.replace(step, timestamp=timestamp + 5, topics=_payload(pick))
    elif change == 4:
        step = msgspec.structs.replace(step, topics=_payload(pick))
    elif change == 5 and picture.five:
        step = msgspec.structs.replace(step, state=state + 1, topics=_payload(pick))
    elif change == 6:
        step = msgspec.structs.replace(step, counter=counter + 1, topics=_payload(pick))
    elif change == 7:
        step = msgspec.structs.replace(step, ha=False)
    elif change == 8:
        step = msgspec.structs.replace(step, timestamp=max(0, timestamp - 1), topics=_payload(pick))
    return (step,)


def is_promoted(pick: Pick, picture: Picture) -> Steps:
    """A slave becomes the master; sometimes a slave and its master change places."""
    found = _lease(pick, picture, lambda lease: lease.id != 0)
    if found is None:
        found = _lease(pick, picture)
        if found is None:
            return registers(pick, picture)
        server, lease = found
        return (_slave_of(pick, picture, server, lease),)
    server, lease = found
    model = picture.models[server]
    promoted = _again(pick, picture, server, lease, id=0, counter=lease.version[0] + pick.below(2))
    master = model.names[lease.broker].ids.get(0) if lease.broker in model.names else None
    old = None if master is None else model.lease(lease.cluster, master)
    if old is None or not pick.once_in(3):
        return (promoted,)
    demoted = _again(pick, picture, server, old, id=pick.one((lease.id, 3)))
    return (demoted, promoted) if pick.below(2) else (promoted, demoted)


def is_demoted(pick: Pick, picture: Picture) -> Steps:
    """A broker takes another id."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    number = pick.one([n for n in (1, 2, 5, 0) if n != lease.id])
    return (_again(pick, picture, server, lease, id=number, counter=lease.version[0] + pick.below(2)),)


def joins(pick: Pick, picture: Picture) -> Steps:
    """A slave of a broker that is there."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    return (_slave_of(pick, picture, *found),)


def takes_an_id(pick: Pick, picture: Picture) -> Steps:
    """Another address registers for an id that is held."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    address = f"a{_slot_of(lease.broker)}{3 + pick.below(2)}"
    step = _again(pick, picture, server, lease, address=address, conn=_conn_of(pick, address))
    step = msgspec.structs.replace(step, counter=max(0, step.counter + pick.one((0, 1, -1))))
    if not picture.five:
        return (step,)
    before = lease.version[2]
    state = pick.one((before, before + 1, before - 1))
    if state >= 0:
        return (msgspec.structs.replace(step, state=state),)
    newer = _again(pick, picture, server, lease, state=before + 1)
    return (newer, msgspec.structs.replace(step, state=before))


def takes_an_address(pick: Pick, picture: Picture) -> Steps:
    """Another broker name registers from an address that is taken."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    broker = pick.one([one for one in _BROKERS if one != lease.broker])
    step = _again(pick, picture, server, lease, broker=broker)
    return (msgspec.structs.replace(step, counter=step.counter + pick.below(2)),)


def registers_oddly(pick: Pick, picture: Picture) -> Steps:
    """A registration that is refused, or nearly."""
    made = registers(pick, picture) if pick.below(2) == 0 else registers_again(pick, picture)
    step = made[0]
    assert isinstance(step, Register)
    what = pick.below(9)
    if what == 0:
        return (msgspec.structs.replace(step, crc="wrong"),)
    if what == 1:
        return (msgspec.structs.replace(step, form=pick.one(("garbage", "null")), topics={}, mappings={}),)
    if what == 2:
        return (msgspec.structs.replace(step, claims_compressed=not step.form.startswith("compressed")),)
    if what == 3:
        return (msgspec.structs.replace(step, form="bare", announces=pick.one((37, 10)), mappings={}),)
    if what == 4:
        topics = {topic: queues for topic, queues in step.topics.items() if topic not in _FLAGS}
        version = pick.one((36, 37, 412, 413, None))
        form = pick.one(("compressed", "compressed-5"))
        return (msgspec.structs.replace(step, form=form, announces=version, topics=topics),)
    if what == 5:
        field = pick.one(("brokerName", "brokerAddr", "clusterName", "brokerId", "haServerAddr"))
        return (msgspec.structs.replace(step, drop=(field,)),)
    if what == 6:
        lone = dict(list(step.topics.items())[:1])
        return (msgspec.structs.replace(step, topics=lone, id=pick.one((1, 7, 0)), state=step.state),)
    if what == 7:
        return (msgspec.structs.replace(step, form="none", topics={}),)
    return (msgspec.structs.replace(step, announces=pick.one((37, 0, 400, 412, 2000))),)


def _registration(pick: Pick, picture: Picture, **given: Any) -> Register:
    """A registration as brokers send it."""
    broker, model = given["broker"], picture.models[given["server"]]
    lease = model.lease(given["cluster"], given["address"])
    counter, timestamp, state = (1, 0, 0) if lease is None else lease.version
    if lease is not None:
        counter += pick.one((1, 0, -1))
    topics = _payload(pick)
    more: dict[str, Any] = {}
    if pick.once_in(4):
        more = _extras(pick, picture, broker, topics)
    return Register(
        **given,
        topics=more.pop("topics", topics),
        counter=max(0, counter),
        timestamp=max(0, timestamp),
        state=state if picture.five else None,
        **more,
    )


def _extras(pick: Pick, picture: Picture, broker: str, topics: dict[str, Queues]) -> dict[str, Any]:
    """What few brokers send."""
    what = pick.below(8 if picture.five else 5)
    if what == 0:
        forms = ("compressed", "compressed-5") if picture.five else ("compressed",)
        plain = {topic: queues for topic, queues in topics.items() if topic not in _FLAGS}
        form = pick.one(forms)
        return {"form": form, "topics": plain, "announces": 412 if form == "compressed" else None}
    if what == 1:
        return {"filters": pick.one((("f1",), ("f2", "f1"), None))}
    if what == 2:
        return {"crc": "none"} if pick.below(2) == 0 else {"no_filters": True}
    if what == 3:
        return {"binary": True}
    if what == 4:
        return {"oneway": True}
    if what == 5:
        return {"zone": pick.one(("z1", "z2")), "acting": pick.one((None, True))}
    if what == 6:
        return {"lease": pick.one((60_000, 20_000, 200_000))}
    topic = pick.one(list(topics) or ["T0"])
    return {"mappings": {topic: (broker, pick.below(3))}}


def _again(pick: Pick, picture: Picture, server: int, lease: Lease, **changed: Any) -> Register:
    """What a broker sends that is there and has not changed."""
    model = picture.models[server]
    name = model.names.get(lease.broker)
    counter, timestamp, state = lease.version
    topics: dict[str, Queues] = {}
    if name is not None:
        topics = {topic: _queues(topic) for topic in sorted(name.topics)}
    if len(topics) < 2:
        topics = _payload(pick)
    given: dict[str, Any] = {
        "server": server,
        "conn": lease.conn,
        "cluster": lease.cluster,
        "broker": lease.broker,
        "address": lease.address,
        "id": lease.id,
        "topics": topics,
        "counter": counter,
        "timestamp": max(0, timestamp),
        "state": state if picture.five else None,
        "lease": int(lease.length * 1000) if lease.length != DEFAULT_LEASE else None,
        "acting": True if name is not None and name.acting else None,
        "zone": None if name is None else name.zone,
    }
    return Register(**(given | changed))


def _slave_of(pick: Pick, picture: Picture, server: int, lease: Lease) -> Register:
    address = f"a{_slot_of(lease.broker)}{pick.below(5)}"
    return _again(
        pick,
        picture,
        server,
        lease,
        address=address,
        conn=_conn_of(pick, address),
        id=pick.one((1, 2)),
        acting=pick.one((None, True)) if picture.five else None,
    )


def _payload(pick: Pick) -> dict[str, Queues]:
    """Topics of a registration: two of them plainly, for 5.x refuses an id that is new with one alone."""
    start, number = pick.below(len(_TOPICS)), pick.one((2, 2, 3, 1, 0))
    changed = pick.below(4) == 3
    found = {}
    for offset in range(number):
        topic = _TOPICS[(start + offset) % len(_TOPICS)]
        read, write, perm, flag = _queues(topic)
        found[topic] = (8, write, pick.one(_PERMS), flag) if changed else (read, write, perm, flag)
    return found


def _queues(topic: str) -> Queues:
    return (4, 4, 6, _FLAGS.get(topic, 0))


# --- leaving ------------------------------------------------------------------------------------------------


def unregisters(pick: Pick, picture: Picture) -> Steps:
    """A broker that is there goes, once or twice."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    step = _departure(pick, *found)
    if pick.once_in(5):
        return (msgspec.structs.replace(step, oneway=True),)
    return (step, step) if pick.once_in(4) else (step,)


def unregisters_wrongly(pick: Pick, picture: Picture) -> Steps:
    """An unregistration that is wrong about something."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    step = _departure(pick, server, lease)
    what = pick.below(5)
    if what == 0:
        return (msgspec.structs.replace(step, id=pick.one((lease.id + 1, 0, 7))),)
    if what == 1:
        return (msgspec.structs.replace(step, address=f"a{_slot_of(lease.broker)}{pick.below(5)}"),)
    if what == 2:
        return (msgspec.structs.replace(step, broker=pick.one(_BROKERS)),)
    if what == 3:
        return (msgspec.structs.replace(step, cluster=pick.one(("c1", "c0"))),)
    drop = pick.one(("brokerName", "brokerAddr", "clusterName", "brokerId"))
    return (msgspec.structs.replace(step, drop=(drop,)),)


def unregisters_late(pick: Pick, picture: Picture) -> Steps:
    """A broker goes and is back at once; or what it sent before it came back arrives when it is."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    back = _again(pick, picture, server, lease)
    return (_departure(pick, server, lease), back)


def _departure(pick: Pick, server: int, lease: Lease) -> Unregister:
    return Unregister(
        server=server,
        conn=lease.conn if not pick.once_in(4) else "q",
        cluster=lease.cluster,
        broker=lease.broker,
        address=lease.address,
        id=lease.id,
        binary=pick.once_in(10),
    )


# --- leases and time ----------------------------------------------------------------------------------------


def beats(pick: Pick, picture: Picture) -> Steps:
    """A heartbeat (5.x)."""
    found = _lease(pick, picture)
    if found is None:
        return (Heartbeat(server=_server(pick, picture)),)
    server, lease = found
    conn = lease.conn if not pick.once_in(3) else "q"
    cluster = lease.cluster if not pick.once_in(6) else pick.one(("c1", "c0"))
    address = lease.address if not pick.once_in(6) else f"a{_slot_of(lease.broker)}{pick.below(5)}"
    return (
        Heartbeat(
            server=server,
            conn=conn,
            cluster=cluster,
            broker=lease.broker,
            address=address,
            id=lease.id,
            oneway=pick.once_in(5),
        ),
    )


def asks_for_versions(pick: Pick, picture: Picture) -> Steps:
    """A broker asks whether its data version is known: the same, newer, older."""
    found = _lease(pick, picture)
    if found is None:
        return (QueryVersion(server=_server(pick, picture)),)
    server, lease = found
    counter, timestamp, state = lease.version
    return (
        QueryVersion(
            server=server,
            conn=lease.conn if not pick.once_in(3) else "q",
            cluster=lease.cluster if not pick.once_in(8) else pick.one(("c1", "c0")),
            broker=lease.broker,
            address=lease.address,
            id=lease.id,
            counter=max(0, counter + pick.one((0, 1, -1))),
            timestamp=max(0, timestamp + pick.one((0, 0, 1))),
            state=pick.one((state, state, state + 1)) if picture.five else None,
            form=pick.one(("json", "json", "json", "json", "none", "garbage")),
        ),
    )


def waits(pick: Pick, picture: Picture) -> Steps:
    """Time passes: a moment, nearly a lease, just past the end of one, or a look at a scan."""
    scan = _SCANS[picture.five]
    ends = [
        lease.since + lease.length - model.now for model in picture.models for lease in model.leases.values()
    ]
    near = int(pick.one(ends)) if ends else int(DEFAULT_LEASE)
    seconds = pick.one((1, scan, near + scan + 1, near - 1, near + 1, 3, int(DEFAULT_LEASE) + scan + 1, 60))
    return (Time(seconds=max(1, seconds)),)


def lies_idle(pick: Pick, picture: Picture) -> Steps:
    """Time passes and a connection is left alone, for as long as a server bears it, or longer."""
    found = _lease(pick, picture)
    if found is None:
        return (Route(conn="k99"), Time(seconds=pick.one((121, 119, 60)), idle=("k99",)))
    _, lease = found
    return (Time(seconds=pick.one((121, 119, 60)), idle=(lease.conn,)),)


# --- topics, permissions, KV, configuration -----------------------------------------------------------------


def permits(pick: Pick, picture: Picture) -> Steps:
    """Write permission is wiped or added."""
    found = _lease(pick, picture)
    code = pick.one(_WIPE_AND_ADD)
    if found is None or pick.once_in(8):
        return (Permission(server=_server(pick, picture), broker=pick.one(_BROKERS), code=code),)
    server, lease = found
    return (Permission(server=server, broker=lease.broker, code=code),)


def deletes_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic is deleted, in all clusters or in one."""
    server = _server(pick, picture)
    topics = sorted(picture.models[server].topics)
    topic = pick.one(topics) if topics and not pick.once_in(6) else pick.one(_TOPICS)
    return (DeleteTopic(server=server, topic=topic, cluster=pick.one((None, "c0", "c1"))),)


def registers_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic is registered without a broker (5.x)."""
    server = _server(pick, picture)
    model = picture.models[server]
    known = sorted(model.names)
    brokers = [pick.one(known)] if known and not pick.once_in(5) else [pick.one(_BROKERS)]
    if len(known) > 1 and pick.once_in(3):
        brokers = known
    topics = sorted(model.topics)
    topic = pick.one(topics) if topics and pick.below(2) else pick.one(_TOPICS)
    queues = {} if pick.once_in(6) else {broker: (16, 16, 6, _FLAGS.get(topic, 0)) for broker in brokers}
    return (RegisterTopic(server=server, topic=topic, queues=queues),)


def keeps_pairs(pick: Pick, picture: Picture) -> Steps:
    """KV: put, overwrite, delete."""
    server = _server(pick, picture)
    namespace = pick.one(("n0", "n0", "n1"))
    key = pick.one(("x", "x", "y", 'é"/'))
    value = pick.one(("v", "w", "V w ", 'é"/\\'))
    mine = [pair for pair in picture.pairs if pair[0] == server]
    put = Kv(server=server, code=100, namespace=namespace, key=key, value=value)
    what = pick.below(6)
    if mine and what in (1, 2):
        _, namespace, key, topic = pick.one(mine)
        there = Kv(server=server, namespace=namespace, key=key, topic=topic)
        if what == 1:
            return (msgspec.structs.replace(there, code=102),)
        again = msgspec.structs.replace(there, code=100, value=value)
        return (again, there)
    if what == 3:
        return (put, msgspec.structs.replace(put, code=102), msgspec.structs.replace(put, code=101))
    if what == 4:
        other = msgspec.structs.replace(put, key="z", value="other")
        return (put, other, msgspec.structs.replace(put, code=219))
    if what == 5:
        return (Kv(server=server, code=102, namespace=pick.one(("n0", "n2")), key=pick.one(("z", "x"))),)
    return (put,)


def orders_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic has a configuration of order, and is asked for by who may see it."""
    server = _server(pick, picture)
    model = picture.models[server]
    topics = sorted(model.topics)
    topic = pick.one(topics) if topics else "T0"
    steps: list[AnyStep] = [
        Kv(server=server, code=100, namespace=ORDER, topic=topic, value=pick.one(("b0:4;b1:8", "b0:8")))
    ]
    if model.settings.get("orderMessageEnable") != "true":
        steps.append(Configure(server=server, lines=("orderMessageEnable=true",)))
    steps.append(Route(server=server, topic=topic))
    return tuple(steps)


def configures(pick: Pick, picture: Picture) -> Steps:
    """A toggle is turned, sometimes beside a line that means nothing."""
    server = _server(pick, picture)
    setting = pick.one(_TOGGLES_FIVE if picture.five else _TOGGLES_BOTH)
    held = picture.models[server].settings.get(setting, usual(setting))
    lines: tuple[str, ...] = (f"{setting}={'false' if held == 'true' else 'true'}",)
    if pick.once_in(5):
        lines = (*lines, "nobodyKnowsThis=7")
    return (Configure(server=server, lines=lines),)


# --- questions ----------------------------------------------------------------------------------------------


def acts_as_master(pick: Pick, picture: Picture) -> Steps:
    """A broker name of slaves alone that announce an acting master, and a route by it (5.x)."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    model = picture.models[server]
    name = model.names.get(lease.broker)
    steps: list[AnyStep] = []
    if model.settings.get("supportActingMaster") != "true":
        steps.append(Configure(server=server, lines=("supportActingMaster=true",)))
    slave = _slave_of(pick, picture, server, lease)
    if slave.address == lease.address:
        return registers(pick, picture)
    steps.append(msgspec.structs.replace(slave, acting=pick.one((True, True, False))))
    master = None if name is None else name.ids.get(0)
    if master is not None and not pick.once_in(4):
        steps.append(
            Unregister(
                server=server,
                cluster=lease.cluster,
                broker=lease.broker,
                address=master,
                id=0,
                conn=lease.conn,
            )
        )
    topics = sorted(name.topics) if name is not None and name.topics else ["T0"]
    steps.append(Route(server=server, topic=pick.one(topics)))
    if pick.once_in(3):
        steps += [
            MemberGroup(server=server, cluster=lease.cluster, broker=lease.broker),
            ClusterInfo(server=server),
        ]
    return tuple(steps)


def asks_for_a_route(pick: Pick, picture: Picture) -> Steps:
    """Route of a topic, in either dialect, sometimes of a zone."""
    server = _server(pick, picture)
    topics = sorted(picture.models[server].topics)
    topic = pick.one(topics) if topics and not pick.once_in(8) else pick.one(_TOPICS)
    step = Route(server=server, topic=topic, conn=_any_conn(pick, picture, server))
    what = pick.below(8)
    if what == 1:
        return (msgspec.structs.replace(step, binary=True),)
    if what == 2:
        return (msgspec.structs.replace(step, announces=pick.one((393, 394, 395, 477))),)
    if what == 3 and picture.five:
        return (msgspec.structs.replace(step, standard=pick.one((True, False))),)
    if what == 4 and picture.five:
        return (msgspec.structs.replace(step, zone_mode=pick.one(("true", "false")), zone=pick.one(_ZONES)),)
    return (step,)


def asks_for_brokers(pick: Pick, picture: Picture) -> Steps:
    """Cluster information, member groups, topics."""
    server = _server(pick, picture)
    conn = _any_conn(pick, picture, server)
    choices: list[AnyRequest] = [ClusterInfo(server=server, conn=conn), Topics(server=server, conn=conn)]
    if picture.five:
        brokers = [one[1] for one in picture.brokers if one[0] == server] or ["b0"]
        choices.append(MemberGroup(server=server, broker=pick.one(brokers), cluster=pick.one(("c0", "c1"))))
    choices += [
        TopicsOfCluster(server=server, cluster=pick.one(("c0", "c1"))),
        SystemTopics(server=server),
        Unit(server=server, code=pick.one((311, 312, 313))),
    ]
    return (pick.one(choices),)


def asks_for_pairs(pick: Pick, picture: Picture) -> Steps:
    """KV: get and list; the configuration; what nobody knows."""
    server = _server(pick, picture)
    mine = [pair for pair in picture.pairs if pair[0] == server]
    what = pick.below(6)
    if what == 5:
        return (Unknown(server=server, code=pick.one((999, 3, 0))),)
    if what == 4:
        return (Configuration(server=server),)
    if mine and what < 2:
        _, namespace, key, topic = pick.one(mine)
        return (Kv(server=server, code=101, namespace=namespace, key=key, topic=topic),)
    return (Kv(server=server, code=pick.one((219, 101)), namespace=pick.one(("n0", "n1", ORDER))),)


# --- connections and faults ---------------------------------------------------------------------------------


def closes(pick: Pick, picture: Picture) -> Steps:
    """A connection ends, a broker's mostly; an old one that was replaced ends late."""
    how = pick.one(_HOWS)
    if picture.replaced and pick.below(3) < 2:
        server, conn = pick.one(list(picture.replaced))
        return (Close(server=server, conn=conn, how=how),)
    found = _lease(pick, picture)
    if found is None:
        return (Close(server=_server(pick, picture), how=how),)
    server, lease = found
    return (Close(server=server, conn=lease.conn, how=how),)


def reconnects(pick: Pick, picture: Picture) -> Steps:
    """A broker is back on a new connection before its old one is seen to end."""
    found = _lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    steps: list[AnyStep] = [Reconnect(server=server, conn=lease.conn, old=f"{lease.conn}-old")]
    if pick.below(4) < 3:
        steps.append(_again(pick, picture, server, lease))
        if pick.below(2):
            steps.append(Close(server=server, conn=f"{lease.conn}-old", how=pick.one(_HOWS[:2])))
    return tuple(steps)


def restarts(pick: Pick, picture: Picture) -> Steps:
    """A server is killed, or asked to stop, and started again."""
    return (Restart(server=_server(pick, picture), how=pick.one(("kill", "term"))),)


def fails(pick: Pick, picture: Picture) -> Steps:
    """Any request, with something wrong about how its bytes travel."""
    step = _request(pick, picture)
    what = pick.below(6)
    if what == 0:
        cuts = tuple(pick.one((4, 1, 8, -1, 21, 60)) for _ in range(1 + pick.below(3)))
        return (msgspec.structs.replace(step, cuts=cuts),)
    if what == 1:
        cuts = (pick.one((4, 1, 8, -1, 60)),)
        return (msgspec.structs.replace(step, cuts=cuts, stall=pick.one((1, 3, 30))),)
    if what == 2:
        other = _request(pick, picture)
        other = msgspec.structs.replace(other, server=step.server, conn=step.conn, awaited=True)
        return (msgspec.structs.replace(step, held=True, awaited=True), other)
    if what == 3:
        return (msgspec.structs.replace(step, twice=True),)
    if what == 4:
        return (msgspec.structs.replace(step, broken=pick.one((-1, 4, 0, 9, 100_000)), oneway=False),)
    cuts = tuple(range(1, 24))
    return (msgspec.structs.replace(step, cuts=cuts),)


def asks_at_once(pick: Pick, picture: Picture) -> Steps:
    """Questions on several connections, none of them awaited before the last has been asked."""
    questions: list[AnyStep] = []
    for at in range(2 + pick.below(3)):
        (step,) = pick.one((asks_for_a_route, asks_for_brokers))(pick, picture)
        questions.append(msgspec.structs.replace(step, conn=f"k9{at % 3}", awaited=False))
    questions[-1] = msgspec.structs.replace(questions[-1], awaited=True)
    return tuple(questions)


def _request(pick: Pick, picture: Picture) -> AnyRequest:
    step = pick.one(_FAULTY)(pick, picture)[0]
    return step if not isinstance(step, Close | Damaged | Reconnect | Restart | Time) else Route()


_FAULTY: tuple[Maker, ...] = (
    registers,
    registers_again,
    asks_for_brokers,
    asks_for_a_route,
    unregisters,
    asks_for_versions,
    keeps_pairs,
)


# --- the end ------------------------------------------------------------------------------------------------


def look(picture: Picture) -> list[AnyStep]:
    """Everything that can be seen of what a program did, server by server."""
    found: list[AnyStep] = []
    for server, model in enumerate(picture.models):
        found += [ClusterInfo(server=server), Topics(server=server)]
        found += [Route(server=server, topic=topic) for at, topic in picture.topics if at == server]
        for at, cluster, broker, address in picture.addresses:
            if at == server:
                lease = model.lease(cluster, address)
                counter, timestamp, state = (-9, 0, 0) if lease is None else lease.version
                found.append(
                    QueryVersion(
                        server=server,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        counter=max(0, counter),
                        timestamp=max(0, timestamp),
                        state=state if picture.five else None,
                    )
                )
        found += [TopicsOfCluster(server=server, cluster=one) for at, one in picture.clusters if at == server]
        if picture.five:
            found += [
                MemberGroup(server=server, broker=broker, cluster=model.names[broker].cluster)
                for at, broker in picture.brokers
                if at == server and broker in model.names
            ]
        found += [Unit(server=server, code=311), Unit(server=server, code=312), Unit(server=server, code=313)]
        found.append(SystemTopics(server=server))
        for at, namespace in picture.spaces:
            if at == server:
                found.append(Kv(server=server, code=219, namespace=namespace))
        found += [
            Kv(server=server, code=101, namespace=namespace, key=key, topic=topic)
            for at, namespace, key, topic in picture.pairs
            if at == server
        ]
    return found


# --- parts --------------------------------------------------------------------------------------------------


def _server(pick: Pick, picture: Picture) -> int:
    return pick.below(picture.servers)


def _lease(
    pick: Pick, picture: Picture, such: Callable[[Lease], bool] = lambda _: True
) -> tuple[int, Lease] | None:
    """A live record, with its server."""
    found = [
        (server, lease)
        for server, model in enumerate(picture.models)
        for lease in model.leases.values()
        if such(lease)
    ]
    return pick.one(found) if found else None


def _slot_of(broker: str) -> int:
    return _BROKERS.index(broker) if broker in _BROKERS else 9


def _conn_of(pick: Pick, address: str) -> str:
    """Each address has a connection; sometimes two brokers share one."""
    return f"k{address[1:]}" if not pick.once_in(12) else pick.one(("k00", "q"))


def _any_conn(pick: Pick, picture: Picture, server: int) -> str:
    conns = sorted({lease.conn for lease in _model(picture, server).leases.values()})
    return pick.one(conns) if conns and pick.once_in(5) else "q"


def _model(picture: Picture, server: int) -> Model:
    return picture.models[server]
