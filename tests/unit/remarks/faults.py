"""Deliberate faults of a client: each replaces a method of the well-behaved one, and breaks a statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.session.broker.requests import consuming
from harness.wire import FLAG_ONEWAY, Command, RequestCode
from harness.wire.messages import Message
from harness.wire.versions import V4_9_4

from .well_behaved import HELD, IN_ORDER, Client

Function = Callable[..., Any]
FAULTS: dict[str, tuple[str, Function]] = {}
"""By statement: the method, and what replaces it."""


def breaks(statement: str, method: str) -> Callable[[Function], Function]:
    """The function replaces the method, and so the client breaks the statement."""

    def registered(function: Function) -> Function:
        assert hasattr(Client, method) and statement not in FAULTS
        FAULTS[statement] = method, function
        return function

    return registered


def faulty(statement: str) -> type[Client]:
    """The client with the fault that breaks a statement."""
    method, function = FAULTS[statement]
    return type("Faulty", (Client,), {method: function})


def is_never_time(client: Client) -> bool:
    return False


# -- requests ------------------------------------------------------------------------------------------------


@breaks("cl.requests.frame-can-be-decoded", "closes")
def sends_no_header(client: Client) -> None:
    """On a connection of its own, because the Broker closes it."""
    client.bk.connect().write(b"\0\0\0\x0c\0\0\0\x08no json!")
    Client.closes(client)


@breaks("cl.requests.frame-has-nothing-odd", "asks_for_route")
def sends_a_number_as_field(client: Client) -> None:
    Client.asks_for_route(client)
    header = b'{"code":105,"extFields":{"topic":7},"flag":0,"language":"CPP","opaque":77,"version":%d}'
    said = header % client.bk.profile.announces
    size = len(said)
    client.connection.send_raw((size + 4).to_bytes(4, "big") + size.to_bytes(4, "big") + said).outcome()


@breaks("cl.requests.header-names-its-language", "sends")
def sends_no_language(client: Client) -> None:
    client.bk.send(client.topic, group=client.producers, on=client.connection, language=None).outcome()


@breaks("cl.requests.header-names-its-version", "rebalances")
def sends_version_zero(client: Client) -> None:
    client.bk.consumers(client.group, on=client.connection, version=0).outcome()


@breaks("cl.requests.version-stays-the-same", "locks")
def sends_another_version(client: Client) -> None:
    queues = [(client.topic, IN_ORDER)]
    client.bk.lock(client.group, client.id, queues, on=client.connection, version=V4_9_4).outcome()


@breaks("cl.requests.opaque-is-free", "holds")
def pulls_twice_with_one_opaque(client: Client) -> None:
    for queue in (HELD, HELD + 1):
        client.bk.pull(
            client.topic, queue, 0, group=client.group, suspend=15, on=client.connection, opaque=77
        )


@breaks("cl.requests.answer-is-wanted", "is_notified")
def asks_one_way(client: Client) -> None:
    client.bk.consumers(client.group, on=client.connection, flag=FLAG_ONEWAY)


@breaks("cl.requests.required-fields-are-there", "commits")
def commits_without_an_offset(client: Client) -> None:
    Client.commits(client)
    where = {"consumerGroup": client.group, "topic": client.topic, "queueId": IN_ORDER}
    client.bk.call(RequestCode.UPDATE_CONSUMER_OFFSET, where, on=client.connection).outcome()


@breaks("cl.requests.questions-are-answered", "answers")
def does_not_answer(client: Client, question: Command) -> None:
    pass


# -- membership ----------------------------------------------------------------------------------------------


@breaks("cl.membership.every-member-sends-heartbeats", "beats")
def does_not_name_its_producers(client: Client) -> None:
    wanted = consuming(client.group, {client.topic: client.expression}, version=client.version)
    client.bk.heartbeat(client.id, consumers=[wanted], on=client.connection).outcome()


breaks("cl.membership.heartbeats-go-on", "is_time_to_beat")(is_never_time)


@breaks("cl.membership.heartbeat-may-be-lost", "is_time_to_beat")
def beats_every_seventy_seconds(client: Client) -> bool:
    return client.now % 70 == 0


@breaks("cl.membership.heartbeat-names-its-client", "beats")
def beats_without_an_id(client: Client) -> None:
    Client.beats(client)
    client.bk.heartbeat("", producers=[client.producers], on=client.connection).outcome()


@breaks("cl.membership.heartbeat-names-a-group", "beats")
def beats_without_groups(client: Client) -> None:
    client.bk.heartbeat(client.id, on=client.connection).outcome()
    Client.beats(client)


@breaks("cl.membership.client-id-is-of-one-client", "other_beats")
def another_has_the_same_id(client: Client) -> None:
    client.other_id = client.id
    Client.other_beats(client)


@breaks("cl.membership.changed-subscription-is-newer", "changes_subscription")
def keeps_the_version(client: Client) -> None:
    client.expression = "A || B"
    client.beats()
    client.expression, client.version = "*", client.version + 1
    client.beats()


@breaks("cl.membership.group-has-one-subscription", "other_beats")
def another_wants_other_messages(client: Client) -> None:
    wanted = consuming(client.group, {client.topic: "A"}, version=client.version)
    client.bk.heartbeat(client.other_id, consumers=[wanted], on=client.other).outcome()


@breaks("cl.membership.rebalance-follows-notification", "is_notified")
def keeps_its_queues(client: Client) -> None:
    pass


@breaks("cl.membership.unregistration-precedes-the-end", "unregisters")
def does_not_unregister(client: Client) -> None:
    pass


# -- consuming -----------------------------------------------------------------------------------------------


@breaks("cl.consuming.pull-waits-for-its-answer", "holds")
def does_not_wait(client: Client) -> None:
    Client.holds(client)
    Client.holds(client)


@breaks("cl.consuming.offset-goes-back-with-pulls", "commits")
def commits_out_of_order(client: Client) -> None:
    client.commit(client.offset)
    client.commit(client.offset - 1)


@breaks("cl.consuming.lock-is-renewed", "is_time_to_lock")
def locks_once(client: Client) -> bool:
    return client.now == 0


@breaks("cl.consuming.lock-is-given-up-at-the-end", "unlocks")
def keeps_its_locks(client: Client) -> None:
    pass


@breaks("cl.consuming.popped-message-is-acknowledged", "acknowledges")
def acknowledges_all_but_one(client: Client, handles: list[str]) -> None:
    Client.acknowledges(client, handles[1:])


@breaks("cl.consuming.returned-message-names-its-original", "sends_back")
def does_not_name_the_original(client: Client, message: Message, original: str | None) -> None:
    Client.sends_back(client, message, None)


@breaks("cl.consuming.copy-for-a-retry-has-a-delay", "sends_copy")
def sends_a_copy_for_now(client: Client, properties: dict[str, str]) -> None:
    Client.sends_copy(client, {"RETRY_TOPIC": properties["RETRY_TOPIC"]})


# -- transactions and routes ---------------------------------------------------------------------------------


@breaks("cl.transactions.check-is-answered", "is_checked")
def does_not_answer_the_check(client: Client, question: Command) -> None:
    pass


@breaks("cl.transactions.answer-is-about-the-check", "ends_transaction")
def answers_about_another(client: Client, asked: dict[str, str | None], log_offset: int) -> None:
    Client.ends_transaction(client, asked, log_offset + 1)
    Client.ends_transaction(client, asked, log_offset)


breaks("cl.routes.are-asked-for-again", "is_time_to_ask_for_route")(is_never_time)
