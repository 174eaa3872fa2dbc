"""What a step is about before it is carried out, for quirks (`holds:` of `specs/targets`) and goals."""

from __future__ import annotations

from typing import Final

from harness.program.nameserver import steps as ns
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState, Live
from harness.spec.quirks import Predicates
from harness.wire.versions import V3_0_11

_MASTER = 0
_ADD_WRITE_PERMISSION = 327


def _departing(expected: ExpectedState, step: AnyStep) -> list[Live]:
    """The live records that a step removes."""
    match step:
        case Close():
            return expected.on(step.conn)
        case Time():
            return expected.ending(step)
        case ns.Unregister():
            lease = expected.lease(step.cluster, step.address)
            return [] if lease is None else [lease]
    return []


def _registers(expected: ExpectedState, step: AnyStep) -> ns.Register | None:
    """The registration that a step is, where header and body can be read."""
    return step if isinstance(step, ns.Register) and expected.announced(step) is not None else None


def _lease_is_short(expected: ExpectedState, step: ns.Register) -> bool:
    """Whether the lease is shorter than a program may take."""
    return step.lease is not None and step.lease / 1000 < expected.profile.lease


def _lone_topic(expected: ExpectedState, step: AnyStep) -> bool:
    """103: an id that is not listed comes with exactly one topic. The id may also have left by then: with the
    connection that ends right behind the request, or because its lease is shorter than a program may take.
    """
    said = expected.announced(step) if isinstance(step, ns.Register) else None
    if (
        said is None
        or not isinstance(step, ns.Register)
        or not expected.profile.has("ranked-registration")
        or len(said.topics) != 1
    ):
        return False
    lease = expected.lease(step.cluster, step.address)
    broker = expected.brokers.get(step.broker)
    is_short = lease is not None and lease.length < expected.profile.lease
    return is_short or step.broken is not None or broker is None or step.id not in broker.ids


def _outranked(expected: ExpectedState, step: AnyStep) -> bool:
    """103: the id is held by a live address with a greater state version."""
    found = _registers(expected, step)
    broker = None if found is None else expected.brokers.get(found.broker)
    if found is None or broker is None or not expected.profile.has("ranked-registration"):
        return False
    holder = broker.ids.get(found.id, found.address)
    lease = expected.lease(found.cluster, holder)
    return holder != found.address and lease is not None and lease.version[2] > (found.state or 0)


def _promoted_over_master(expected: ExpectedState, step: AnyStep) -> bool:
    """103 as master by an address that is listed as a slave, while another address is the master, or may be
    yet.
    """
    found = _registers(expected, step)
    broker = None if found is None else expected.brokers.get(found.broker)
    if found is None or broker is None or found.id != _MASTER:
        return False
    return found.address in broker.ids.values() and bool(expected.holders(found))


def _replaces_address(expected: ExpectedState, step: AnyStep) -> bool:
    """103: the id is held by another address, or may be yet."""
    found = _registers(expected, step)
    return found is not None and bool(expected.holders(found))


def _several_clusters(expected: ExpectedState, step: AnyStep) -> bool:
    """An address leaves a broker name that was registered under more than one cluster; or registers there
    while a lease may end unseen.
    """
    if isinstance(step, ns.Register):
        leases = [lease.length for lease in expected.leases.values() if lease.broker == step.broker]
        is_short = any(length < expected.profile.lease for length in leases) or (
            expected.profile.has("own-lease") and _lease_is_short(expected, step)
        )
        is_known = step.broker in expected.brokers
        return is_short and is_known and {step.cluster} != expected.clusters_of(step.broker)
    brokers = {lease.broker for lease in _departing(expected, step)}
    if isinstance(step, ns.Unregister):
        brokers.add(step.broker)
    return any(len(expected.clusters_of(one)) > 1 for one in brokers if one in expected.brokers)


def _wrong_cluster(expected: ExpectedState, step: AnyStep) -> bool:
    """104 for a known broker name under another cluster than its own."""
    if not isinstance(step, ns.Unregister):
        return False
    broker = expected.brokers.get(step.broker)
    return broker is not None and step.cluster != broker.cluster


def _shared_connection(expected: ExpectedState, step: AnyStep) -> bool:
    """A connection ends, or a lease on it, over which more than one broker has registered."""
    if isinstance(step, ns.Unregister):
        return False
    return any(len(expected.on(lease.conn)) > 1 for lease in _departing(expected, step))


def _address_of_another(expected: ExpectedState, step: AnyStep) -> bool:
    """103: another broker name lists the address already."""
    found = _registers(expected, step)
    if found is None:
        return False
    listed = [*expected.brokers.items(), *((one.name, one.broker) for one in expected.departed())]
    return any(found.address in one.ids.values() for name, one in listed if name != found.broker)


def _mapped_topic_goes(expected: ExpectedState, step: AnyStep) -> bool:
    """Queue data of a topic with static mappings may go: it is deleted or left out, or its broker leaves, be
    it because its lease is shorter than a program may take.
    """
    if isinstance(step, ns.DeleteTopic):
        return step.topic in expected.mapped
    brokers = {lease.broker for lease in _departing(expected, step)}
    if isinstance(step, ns.Register):
        is_short = _lease_is_short(expected, step)
        if is_short and step.mappings:
            return True
        deletes = expected.settings.get("deleteTopicWithBrokerRegistration") == "true"
        if is_short or deletes:
            brokers.add(step.broker)
    elif isinstance(step, ns.Unregister):
        brokers.add(step.broker)
    return any(brokers & mapped for mapped in expected.mapped.values())


def _drops_field(expected: ExpectedState, step: AnyStep) -> bool:
    """An ext field is left out."""
    return isinstance(step, Request) and bool(step.drop)


def _zone_filtered(expected: ExpectedState, step: AnyStep) -> bool:
    """105 with `__ZONE_MODE` true and a zone."""
    return (
        isinstance(step, ns.Route)
        and (step.zone_mode or "").lower() == "true"
        and bool(step.zone and step.zone.strip())
    )


def _no_data_version(expected: ExpectedState, step: AnyStep) -> bool:
    """103 in whose body no data version is found: that of an old broker from a newer one, or in reverse."""
    found = _registers(expected, step)
    if found is None:
        return False
    old = found.announces is not None and found.announces < V3_0_11
    return found.form == ("json" if old else "bare")


def _mapping_of_equal_version(expected: ExpectedState, step: AnyStep) -> bool:
    """103 with static-topic mappings and the data version that the address is known with."""
    found = _registers(expected, step)
    lease = None if found is None else expected.lease(found.cluster, found.address)
    if found is None or lease is None or not found.mappings:
        return False
    return lease.has_version_of(found)


def _binary(expected: ExpectedState, step: AnyStep) -> bool:
    """The header of the request is in ROCKETMQ serialization."""
    return isinstance(step, Request) and step.binary


def _adds_to_other_bits(expected: ExpectedState, step: AnyStep) -> bool:
    """327 for a broker of which a topic may have a permission other than 4 and 6."""
    return (
        isinstance(step, ns.Permission) and step.code == _ADD_WRITE_PERMISSION and step.broker in expected.odd
    )


def _lease_ends(expected: ExpectedState, step: AnyStep) -> bool:
    """Time passes, and a lease runs out."""
    return isinstance(step, Time) and bool(expected.ending(step))


def _null_old_body(expected: ExpectedState, step: AnyStep) -> bool:
    """103 of a version below 37 whose body is null: it says so, or, on 5.x, it is no UTF-8."""
    return (
        isinstance(step, ns.Register)
        and step.announces is not None
        and 0 <= step.announces < V3_0_11
        and (
            step.form == "null"
            or (expected.profile.has("topic-attributes") and step.form.startswith("compressed"))
        )
        and step.crc != "wrong"
    )


PREDICATES: Final[Predicates[ExpectedState]] = {
    "lone-topic": _lone_topic,
    "outranked": _outranked,
    "promoted-over-master": _promoted_over_master,
    "replaces-address": _replaces_address,
    "several-clusters": _several_clusters,
    "wrong-cluster": _wrong_cluster,
    "shared-connection": _shared_connection,
    "address-of-another": _address_of_another,
    "mapped-topic-goes": _mapped_topic_goes,
    "drops-field": _drops_field,
    "zone-filtered": _zone_filtered,
    "no-data-version": _no_data_version,
    "binary": _binary,
    "mapping-of-equal-version": _mapping_of_equal_version,
    "adds-to-other-bits": _adds_to_other_bits,
    "lease-ends": _lease_ends,
    "null-old-body": _null_old_body,
}
"""By the name that `specs/targets` uses; the docstring of each is its meaning."""
