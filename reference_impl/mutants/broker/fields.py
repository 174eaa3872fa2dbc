"""Mutants of the chapter fields: what becomes of bodies with members that the Broker does not know."""

from collections.abc import Sequence
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
from reference_impl.mutants.registry import ALL, V5, V55, mutant
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


def _has_no_effect(
    decision: Any, kind: type[Any], name: str, what: str, profiles: Sequence[str] = ALL
) -> None:
    """Registers the mutant that answers a request and does nothing if its body has an unknown member."""

    def passed_over(original, self, command, connection, now):
        known = _is_known(command.body, kind)
        return original(self, command, connection, now) if known else Reply(ResponseCode.SUCCESS)

    mutant(decision, f"{what} with an unknown member has no effect.", profiles, name=name)(passed_over)


_has_no_effect(Clients.heartbeat, Heartbeat, "unknown-members-hide-consumers", "A heartbeat")
_has_no_effect(Assignments.set_mode, RequestMode, "unknown-members-hide-the-mode", "A request mode", V5)
_has_no_effect(
    PopAcks.acknowledge_all, BatchAcks, "unknown-members-hide-acks", "A batch of acknowledgements", V5
)
_has_no_effect(
    TopicAdministration.update_several, TopicConfigList, "unknown-members-hide-topics", "A list of topics", V5
)


@mutant(LightSubscriptions.subscriptions, "Light subscriptions with an unknown member have no effect.", V55)
def unknown_members_hide_subscriptions(original, self, command):
    return original(self, command) if _is_known(command.body, LightSubscriptionList) else []
