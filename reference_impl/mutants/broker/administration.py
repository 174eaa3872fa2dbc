"""Mutants of the chapter administration."""

from typing import Literal

from harness.wire import Command
from harness.wire.bodies import ConsumedQueue, KvTable, MessageQueue, SubscriptionGroup
from harness.wire.broker_codes import BrokerRequest
from harness.wire.fastjson import document, parse
from reference_impl.broker.core import Broker
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.groups import Groups
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.parts import Parts
from reference_impl.broker.runtime import Runtime
from reference_impl.broker.settings import Settings
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

V4 = ("4.9",)


def _answers(parts: Parts, code: BrokerRequest, instead: Reply, *, if_refused: bool = False) -> Parts:
    """A request of this code is answered so, always or where it was to be refused."""

    def execute(self: Broker, command: Command, connection: int, now: int) -> Reply | None:
        if command.code != code:
            return parts.broker.execute(self, command, connection, now)
        reply = parts.broker.execute(self, command, connection, now) if if_refused else None
        return instead if reply is None or reply.code != 0 else reply

    return parts.override("broker", execute)


@mutant("groups-are-made-with-defaults", "A group is made with the defaults, whatever was asked for.")
def groups_are_made_with_defaults(parts: Parts) -> Parts:
    def put(self: Groups, group: SubscriptionGroup, now: int) -> None:
        parts.groups.put(self, self.made(group.group_name or ""), now)

    return parts.override("groups", put)


@mutant("empty-groups-are-made", "A request to make a group that has no body succeeds.")
def empty_groups_are_made(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, Reply(0), if_refused=True)


@mutant("groups-are-not-deleted", "A group is deleted with success, and stays.")
def groups_are_not_deleted(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.DELETE_SUBSCRIPTION_GROUP, Reply(0))


def _shows(parts: Parts, name: Literal["consumers", "producers"], without: str) -> Parts:
    """The connections of a group are shown without a member of the body."""
    sound = getattr(parts.group_administration, name)

    def change(reply: Reply) -> Reply:
        shown = parse(reply.body) if reply.body else None
        if isinstance(shown, dict):
            reply.body = document({**shown, without: []})
        return reply

    def consumers(self: GroupAdministration, command: Command, connection: int, now: int) -> Reply:
        return change(sound(self, command, connection, now))

    def producers(self: GroupAdministration, command: Command, connection: int, now: int) -> Reply:
        return change(sound(self, command, connection, now))

    return parts.override("group_administration", consumers if name == "consumers" else producers)


@mutant("no-consumers-are-shown", "No connection of a group of consumers is shown.")
def no_consumers_are_shown(parts: Parts) -> Parts:
    return _shows(parts, "consumers", "connectionSet")


@mutant("subscriptions-are-not-shown", "What a group subscribes to is not shown.")
def subscriptions_are_not_shown(parts: Parts) -> Parts:
    return _shows(parts, "consumers", "subscriptionTable")


@mutant("no-producers-are-shown", "No connection of a group of producers is shown.")
def no_producers_are_shown(parts: Parts) -> Parts:
    return _shows(parts, "producers", "connectionSet")


@mutant("nobody-online-is-success", "A group of which nobody is online has an empty list.")
def nobody_online_is_success(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.GET_CONSUMER_CONNECTION_LIST, Reply(0), if_refused=True)


@mutant("unknown-producers-are-success", "A group for which nobody produces has an empty list.")
def unknown_producers_are_success(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.GET_PRODUCER_CONNECTION_LIST, Reply(0), if_refused=True)


@mutant("progress-is-empty", "No queue is shown of what a group has consumed.")
def progress_is_empty(parts: Parts) -> Parts:
    def consumed(self: GroupAdministration, group: str, topic: str) -> dict[MessageQueue, ConsumedQueue]:
        return {}

    return parts.override("group_administration", consumed)


@mutant("progress-without-offsets", "A group has consumed nothing, as is shown.")
def progress_without_offsets(parts: Parts) -> Parts:
    def consumed_of(self: GroupAdministration, group: str, topic: str, queue: int) -> ConsumedQueue:
        return ConsumedQueue()

    return parts.override("group_administration", consumed_of)


@mutant("progress-of-unknown-is-refused", "A group that has consumed nothing is refused.")
def progress_of_unknown_is_refused(parts: Parts) -> Parts:
    def progress(self: GroupAdministration, command: Command, connection: int, now: int) -> Reply:
        if not self.topics_of((command.ext or {}).get("consumerGroup") or ""):
            return Reply(26, remark="there is none")
        return parts.group_administration.progress(self, command, connection, now)

    return parts.override("group_administration", progress)


@mutant("groups-of-topic-not-shown", "No group that has consumed a topic is shown.")
def groups_of_topic_not_shown(parts: Parts) -> Parts:
    def groups_of(self: GroupAdministration, topic: str) -> list[str]:
        return []

    return parts.override("group_administration", groups_of)


@mutant("resets-change-nothing", "A reset is answered, and sets nothing.", V5)
def resets_change_nothing(parts: Parts) -> Parts:
    def reset(self: Offsets, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        return

    return parts.override("offsets", reset)


@mutant("resets-of-unknown-succeed", "A reset of what there is not succeeds.", V5)
def resets_of_unknown_succeed(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.INVOKE_BROKER_TO_RESET_OFFSET, Reply(0), if_refused=True)


@mutant("resets-need-nobody", "A reset succeeds though nobody is online.", V4)
def resets_need_nobody(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.INVOKE_BROKER_TO_RESET_OFFSET, Reply(0), if_refused=True)


@mutant("broker-settings-are-not-shown", "Code 26 answers without a body.")
def broker_settings_are_not_shown(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.GET_BROKER_CONFIG, Reply(0))


@mutant("broker-settings-do-not-change", "Code 25 changes nothing.")
def broker_settings_do_not_change(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.UPDATE_BROKER_CONFIG, Reply(0))


@mutant("broker-black-list-ignored", "Any setting can be changed.", V5)
def broker_black_list_ignored(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: object) -> bool:
        return False

    return parts.override("settings", refuses)


@mutant("state-is-not-shown", "Code 28 answers with an empty table.")
def state_is_not_shown(parts: Parts) -> Parts:
    return _answers(parts, BrokerRequest.GET_BROKER_RUNTIME_INFO, Reply(0, body=KvTable().encode()))


@mutant("state-without-version", "The state of the Broker does not name its release.")
def state_without_version(parts: Parts) -> Parts:
    def information(self: Runtime, now: int) -> dict[str, str]:
        found = parts.runtime.information(self, now)
        del found["brokerVersionDesc"]
        return found

    return parts.override("runtime", information)


@mutant("unknown-codes-are-not-answered", "A request code that the Broker does not know is not answered.")
def unknown_codes_are_not_answered(parts: Parts) -> Parts:
    def unknown_request(self: Broker, command: Command) -> Reply | None:
        return None

    return parts.override("broker", unknown_request)
