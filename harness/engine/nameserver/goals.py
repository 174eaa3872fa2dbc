"""Whether the interesting states were reached: goals, and a table of transitions.

- A goal is a predicate over what should exist (`ProgramState`) and the next step. It is counted when the step
  has been carried out.
- A goal is required where the target and the run can reach it (`needs`); a run that did not reach each of
  them says so, and is inconclusive where it found nothing else.
- A transition is the kind of a step, and what became of the broker name that it is about.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.coverage import Coverage, Goal, Need
from harness.engine.nameserver.program_state import ProgramState
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState, Live
from harness.spec.nameserver.predicates import PREDICATES

GOALS: list[Goal] = []


def _goal(id_: str, text: str, *on: type, needs: tuple[Need, ...] = ()) -> Callable[[_Reached], _Reached]:
    def define(reached: _Reached) -> _Reached:
        GOALS.append(Goal(id_, text, on, reached, needs))
        return reached

    return define


_Reached = Callable[[ProgramState, AnyStep], bool]


def _named(id_: str, text: str, predicate: str, *on: type, needs: tuple[Need, ...] = ()) -> None:
    GOALS.append(Goal(id_, text, on, lambda p, s: _meets(predicate, p, s), needs))


def _meets(predicate: str, state: ProgramState, step: AnyStep) -> bool:
    return any(PREDICATES[predicate](expected, step) for expected in _expected(state, step))


def _expected(state: ProgramState, step: AnyStep) -> list[ExpectedState]:
    return state.expected if isinstance(step, Time) else [state.expected[step.server]]


def _held(state: ProgramState, step: AnyStep) -> Live | None:
    """The live record of the address that a step names."""
    assert isinstance(step, ns.Register | ns.Unregister | ns.Heartbeat | ns.QueryVersion)
    return state.expected[step.server].lease(step.cluster, step.address)


# --- registration -------------------------------------------------------------------------------------------

_named(
    "promotion-beside-a-live-master",
    "a slave registers as master while another address is the master",
    "promoted-over-master",
    ns.Register,
)
_named("id-taken-over", "an address registers for an id that another holds", "replaces-address", ns.Register)
_named("address-under-two-names", "an address registers for a second name", "address-of-another", ns.Register)
_named(
    "refused-for-a-lone-topic",
    "a new id with one topic alone",
    "lone-topic",
    ns.Register,
    needs=("ranked-registration",),
)
_named(
    "outranked",
    "an id whose live holder has a greater state version",
    "outranked",
    ns.Register,
    needs=("ranked-registration",),
)


@_goal("equal-version", "a live broker registers again with its data version", ns.Register)
def _equal(state: ProgramState, step: AnyStep) -> bool:
    lease = _held(state, step)
    assert isinstance(step, ns.Register)
    return lease is not None and lease.has_version_of(step)


@_goal("older-version", "a live broker registers again with an older data version", ns.Register)
def _older(state: ProgramState, step: AnyStep) -> bool:
    lease = _held(state, step)
    assert isinstance(step, ns.Register)
    return lease is not None and step.counter < lease.version[0]


@_goal("demotion", "a master registers as a slave", ns.Register)
def _demotion(state: ProgramState, step: AnyStep) -> bool:
    lease = _held(state, step)
    assert isinstance(step, ns.Register)
    return lease is not None and lease.id == 0 and step.id != 0 and lease.broker == step.broker


@_goal("slave-beside-a-live-master", "a slave registers while its master is live", ns.Register)
def _slave(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Register)
    expected = state.expected[step.server]
    name = expected.brokers.get(step.broker)
    master = None if name is None else name.ids.get(0)
    return step.id != 0 and master is not None and expected.lease(step.cluster, master) is not None


@_goal(
    "one-broker-at-several-servers",
    "a broker is registered at several servers",
    ns.Register,
    needs=("servers",),
)
def _everywhere(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Register)
    others = [expected for at, expected in enumerate(state.expected) if at != step.server]
    return any(other.lease(step.cluster, step.address) is not None for other in others)


# --- leaving ------------------------------------------------------------------------------------------------


@_goal("name-goes-with-its-last-address", "the last address of a broker name unregisters", ns.Unregister)
def _last(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Unregister)
    name = state.expected[step.server].brokers.get(step.broker)
    return name is not None and list(name.ids.values()) == [step.address]


@_goal(
    "unregistered-under-another-id", "an unregistration names another id than the listed one", ns.Unregister
)
def _wrong_id(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Unregister)
    name = state.expected[step.server].brokers.get(step.broker)
    return name is not None and step.address in name.ids.values() and name.ids.get(step.id) != step.address


@_goal("unregistered-twice", "an address unregisters that is not live any more", ns.Unregister)
def _twice(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Unregister)
    known = (step.server, step.cluster, step.broker, step.address) in state.addresses
    return known and _held(state, step) is None


@_goal("closed-before-the-lease", "the connection of a live broker ends", Close)
def _closed(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, Close)
    return bool(state.expected[step.server].on(step.conn))


@_goal(
    "late-close-after-re-registration",
    "a connection ends whose broker has registered again over another one",
    Close,
)
def _late(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, Close)
    new = step.conn.removesuffix("-old")
    expected = state.expected[step.server]
    return (
        (step.server, step.conn) in state.replaced and bool(expected.on(new)) and not expected.on(step.conn)
    )


# --- time ---------------------------------------------------------------------------------------------------


@_goal("lease-ended", "a lease runs out", Time, needs=("leases",))
def _ended(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, Time)
    return any(
        lease.since + lease.length + state.scan < expected.now + step.seconds
        for expected in state.expected
        for lease in expected.leases.values()
    )


@_goal("lease-nearly-ended", "a lease is in its last tenth and has not ended", Time, needs=("leases",))
def _nearly(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, Time)
    return any(
        lease.length * 0.9 <= expected.now + step.seconds - lease.since < lease.length
        for expected in state.expected
        for lease in expected.leases.values()
    )


@_goal("idle-connection-ended", "the connection of a live broker lies idle too long", Time, needs=("leases",))
def _idle(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, Time)
    return step.seconds > state.expected[0].profile.idle and any(
        expected.on(conn) for expected in state.expected for conn in step.idle
    )


@_goal("heartbeat-of-a-live-broker", "a heartbeat renews a lease", ns.Heartbeat, needs=("heartbeats",))
def _beat(state: ProgramState, step: AnyStep) -> bool:
    return _held(state, step) is not None


@_goal("version-asked-by-a-live-broker", "a live broker asks for its data version", ns.QueryVersion)
def _version(state: ProgramState, step: AnyStep) -> bool:
    return _held(state, step) is not None


# --- what is served -----------------------------------------------------------------------------------------


@_goal(
    "prime-slave-serves",
    "the route of a topic whose broker name has no master and an acting one",
    ns.Route,
    needs=("acting-master",),
)
def _prime(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Route)
    expected = state.expected[step.server]
    names = [
        expected.brokers[broker]
        for broker in expected.topics.get(step.topic, ())
        if broker in expected.brokers
    ]
    shown = expected.settings.get("supportActingMaster") == "true"
    return shown and any(name.acting and name.ids and 0 not in name.ids for name in names)


@_goal("route-of-a-topic-that-went", "the route of a topic whose last broker has gone", ns.Route)
def _gone(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Route)
    return (step.server, step.topic) in state.topics and step.topic not in state.expected[step.server].topics


@_goal("route-of-a-topic", "the route of a topic that is served", ns.Route)
def _served(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Route)
    return step.topic in state.expected[step.server].topics


@_goal("member-group-without-master", "a member group of slaves alone", ns.MemberGroup, needs=("heartbeats",))
def _group(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.MemberGroup)
    name = state.expected[step.server].brokers.get(step.broker)
    return name is not None and 0 not in name.ids


@_goal("write-permission-of-a-live-broker", "write permission of a broker with topics changes", ns.Permission)
def _permission(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Permission)
    return bool(state.expected[step.server].topics_of(step.broker))


@_goal("topic-deleted", "a topic is deleted that is served", ns.DeleteTopic)
def _deleted(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.DeleteTopic)
    return step.topic in state.expected[step.server].topics


@_goal(
    "topic-registered",
    "a topic is registered for a broker that is there",
    ns.RegisterTopic,
    needs=("topic-registration",),
)
def _registered(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.RegisterTopic)
    return any(broker in state.expected[step.server].brokers for broker in step.queues)


@_goal("pair-overwritten", "a KV pair is put that is there", ns.Kv)
def _overwritten(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Kv)
    return step.code == 100 and (step.server, step.namespace, step.key, step.topic) in state.pairs


@_goal("pair-deleted", "a KV pair is deleted that is there", ns.Kv)
def _pair(state: ProgramState, step: AnyStep) -> bool:
    assert isinstance(step, ns.Kv)
    return step.code == 102 and (step.server, step.namespace, step.key, step.topic) in state.pairs


@_goal("toggle-turned", "a setting is changed", ns.Configure)
def _turned(state: ProgramState, step: AnyStep) -> bool:
    return True


# --- faults -------------------------------------------------------------------------------------------------

_REQUESTS = tuple(kind for kind in AnyStep.__args__ if issubclass(kind, Request))


def _request(id_: str, text: str, such: Callable[[Request], bool]) -> None:
    GOALS.append(Goal(id_, text, _REQUESTS, lambda _, step: isinstance(step, Request) and such(step)))


_request("frame-cut", "a frame goes out in several segments", lambda step: bool(step.cuts))
_request("frame-stalled", "time passes inside a frame", lambda step: bool(step.cuts and step.stall))
_request("frames-together", "two frames go out in one segment", lambda step: step.held)
_request("frame-twice", "a frame goes out twice", lambda step: step.twice)
_request("frame-broken-off", "a connection is reset at or in a frame", lambda step: step.broken is not None)
_request("not-awaited", "requests are under way at the same time", lambda step: not step.awaited)
_request("one-way", "a request is sent one-way", lambda step: step.oneway)


@_goal("connection-reset", "a connection is reset", Close)
def _reset(state: ProgramState, step: AnyStep) -> bool:
    return isinstance(step, Close) and step.how == "reset"


@_goal("connection-half-closed", "the sending direction of a connection is closed", Close)
def _half(state: ProgramState, step: AnyStep) -> bool:
    return isinstance(step, Close) and step.how == "half"


@_goal("connection-replaced", "a new connection beside the old one", Reconnect)
def _replaced(state: ProgramState, step: AnyStep) -> bool:
    return True


@_goal("restart", "a server is ended and started again", Restart, needs=("restart",))
def _restarted(state: ProgramState, step: AnyStep) -> bool:
    return True


# --- counting -----------------------------------------------------------------------------------------------


def state_of(state: ProgramState, step: AnyStep) -> str:
    """What the broker name is that a step is about: ``absent``, ``master``, ``slaves``, ``master+slaves``,
    ``acting`` (slaves alone that announce an acting master), ``empty``; ``-`` where it is about none.
    """
    broker = getattr(step, "broker", None)
    if broker is None:
        return "-"
    name = state.expected[getattr(step, "server", 0)].brokers.get(broker)
    if name is None:
        return "absent"
    if not name.ids:
        return "empty"
    if 0 in name.ids:
        return "master+slaves" if len(name.ids) > 1 else "master"
    return "acting" if name.acting else "slaves"


def tally() -> Coverage:
    """Of programs of NameServers."""
    return Coverage(GOALS, state_of)
