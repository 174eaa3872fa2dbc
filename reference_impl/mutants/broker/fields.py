"""Mutants of the chapter fields: what becomes of bodies with members that the Broker does not know."""

from typing import Any

import msgspec

from harness.wire import ResponseCode
from harness.wire.bodies import (
    BatchAcks,
    Heartbeat,
    LightSubscriptionList,
    LockRequest,
    RequestMode,
    TopicConfigList,
)
from reference_impl.broker.assignments import Assignments
from reference_impl.broker.clients import Clients
from reference_impl.broker.light_subscriptions import LightSubscriptions
from reference_impl.broker.locks import Locks
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.mutants.registry import V5, V55, mutant
from reference_impl.remoting.reply import Reply


def _is_known(body: bytes, kind: type[Any]) -> bool:
    """Whether a body has only members that its type names."""
    try:
        msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError:
        return False
    return True


@mutant(Locks.asked, "A request for locks with an unknown member names no queue.")
def unknown_members_hide_queues(original, self, command):
    asked = original(self, command)
    return asked if _is_known(command.body, LockRequest) else msgspec.structs.replace(asked, mq_set=[])


@mutant(Clients.heartbeat, "A heartbeat with an unknown member has no effect.")
def unknown_members_hide_consumers(original, self, command, connection, now):
    known = _is_known(command.body, Heartbeat)
    return original(self, command, connection, now) if known else Reply(ResponseCode.SUCCESS)


@mutant(Assignments.set_mode, "A request mode with an unknown member is not set.", V5)
def unknown_members_hide_the_mode(original, self, command, connection, now):
    known = _is_known(command.body, RequestMode)
    return original(self, command, connection, now) if known else Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.acknowledge_all, "Acknowledgements with an unknown member have no effect.", V5)
def unknown_members_hide_acks(original, self, command, connection, now):
    known = _is_known(command.body, BatchAcks)
    return original(self, command, connection, now) if known else Reply(ResponseCode.SUCCESS)


@mutant(TopicAdministration.update_several, "Topics with an unknown member are not created.", V5)
def unknown_members_hide_topics(original, self, command, connection, now):
    known = _is_known(command.body, TopicConfigList)
    return original(self, command, connection, now) if known else Reply(ResponseCode.SUCCESS)


@mutant(LightSubscriptions.subscriptions, "Light subscriptions with an unknown member have no effect.", V55)
def unknown_members_hide_subscriptions(original, self, command):
    return original(self, command) if _is_known(command.body, LightSubscriptionList) else []
