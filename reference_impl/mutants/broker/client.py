"""Mutants of the chapter client."""

from harness.wire import Command
from harness.wire.bodies import ConsumerData, Subscription
from harness.wire.broker_codes import BrokerResponse
from harness.wire.fastjson import document
from reference_impl.broker.clients import Client, Clients, ConsumerGroup
from reference_impl.broker.parts import Parts
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

# -- who is there --------------------------------------------------------------------------------------------


@mutant("only-the-first-member-is-listed", "The list of a group's members has one of them.")
def only_the_first_member_is_listed(parts: Parts) -> Parts:
    def list_consumers(self: Clients, command: Command, connection: int, now: int) -> Reply:
        reply = parts.clients.list_consumers(self, command, connection, now)
        group = self.consumers.get((command.ext or {}).get("consumerGroup") or "")
        if group is not None:
            ids = [client.id for client in group.members.values()]
            reply.body = document({"consumerIdList": ids[:1]})
        return reply

    return parts.override("clients", list_consumers)


@mutant("nobody-is-an-empty-list", "The list of a group without members is empty.")
def nobody_is_an_empty_list(parts: Parts) -> Parts:
    def list_consumers(self: Clients, command: Command, connection: int, now: int) -> Reply:
        reply = parts.clients.list_consumers(self, command, connection, now)
        if reply.code == BrokerResponse.SUCCESS:
            return reply
        return Reply(BrokerResponse.SUCCESS, body=document({"consumerIdList": []}))

    return parts.override("clients", list_consumers)


@mutant("lost-clients-stay-members", "A client stays in its groups when its connection ends.")
def lost_clients_stay_members(parts: Parts) -> Parts:
    def lost(self: Clients, connection: int, now: int) -> None:
        pass

    return parts.override("clients", lost)


@mutant("who-leaves-stays", "A client that leaves a group stays in it.")
def who_leaves_stays(parts: Parts) -> Parts:
    def unregister(self: Clients, command: Command, connection: int, now: int) -> Reply:
        return Reply(BrokerResponse.SUCCESS, ext={})

    return parts.override("clients", unregister)


@mutant("silent-clients-stay", "A client that sends no heartbeats is not let go.")
def silent_clients_stay(parts: Parts) -> Parts:
    def is_silent(self: Clients, client: Client, now: int) -> bool:
        return False

    return parts.override("clients", is_silent)


# -- what they are told --------------------------------------------------------------------------------------


@mutant("nobody-is-told-of-changes", "Members of a group are not told of changes.")
def nobody_is_told_of_changes(parts: Parts) -> Parts:
    def tell_members(self: Clients, name: str, group: ConsumerGroup) -> None:
        pass

    return parts.override("clients", tell_members)


@mutant("nobody-is-told-of-departures", "Members of a group are not told when the connection of one ends.")
def nobody_is_told_of_departures(parts: Parts) -> Parts:
    def stop_consuming(self: Clients, name: str, connection: int) -> bool:
        parts.clients.stop_consuming(self, name, connection)
        return False

    return parts.override("clients", stop_consuming)


@mutant("broadcasting-groups-are-told", "Members of a group that broadcasts are told of changes.", V5)
def broadcasting_groups_are_told(parts: Parts) -> Parts:
    def is_told(self: Clients, group: ConsumerGroup) -> bool:
        return True

    return parts.override("clients", is_told)


@mutant("new-topics-are-no-change", "Members of a group are not told that it subscribes to another topic.")
def new_topics_are_no_change(parts: Parts) -> Parts:
    def subscribe(self: Clients, group: ConsumerGroup, subscriptions: list[Subscription]) -> bool:
        parts.clients.subscribe(self, group, subscriptions)
        return False

    return parts.override("clients", subscribe)


@mutant("every-heartbeat-is-told", "Every heartbeat is told to the members of its group.")
def every_heartbeat_is_told(parts: Parts) -> Parts:
    def join(
        self: Clients, group: ConsumerGroup, name: str, client: Client, connection: int, now: int
    ) -> bool:
        parts.clients.join(self, group, name, client, connection, now)
        return True

    return parts.override("clients", join)


# -- what they want ------------------------------------------------------------------------------------------


@mutant("older-subscriptions-replace-newer", "The subscription of the last heartbeat counts, old or new.")
def older_subscriptions_replace_newer(parts: Parts) -> Parts:
    def subscribe(self: Clients, group: ConsumerGroup, subscriptions: list[Subscription]) -> bool:
        before = set(group.subscriptions)
        group.subscriptions = {one.topic or "": one for one in subscriptions}
        return set(group.subscriptions) != before

    return parts.override("clients", subscribe)


@mutant("groups-have-no-retry-topic", "A heartbeat does not create the retry topic of its group.")
def groups_have_no_retry_topic(parts: Parts) -> Parts:
    def consume(
        self: Clients, data: ConsumerData, client: Client, connection: int, now: int, *, without_sub: bool
    ) -> None:
        parts.clients.consume(self, data, client, connection, now, without_sub=without_sub)
        self.broker.topics.delete(f"%RETRY%{data.group_name}", now)

    return parts.override("clients", consume)


@mutant("short-heartbeats-are-not-known", "The answer to a heartbeat has no ext fields.", V5)
def short_heartbeats_are_not_known(parts: Parts) -> Parts:
    def heartbeat(self: Clients, command: Command, connection: int, now: int) -> Reply:
        reply = parts.clients.heartbeat(self, command, connection, now)
        reply.ext = None
        return reply

    return parts.override("clients", heartbeat)


@mutant("fingerprints-never-change", "A heartbeat is never told that others of its group differ.", V5)
def fingerprints_never_change(parts: Parts) -> Parts:
    def fingerprint_changed(self: Clients, group: str, fingerprint: int) -> bool:
        return False

    return parts.override("clients", fingerprint_changed)
