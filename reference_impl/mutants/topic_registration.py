"""Faults of registering topics without a broker (code 217, 5.x)."""

from collections.abc import Iterable

from harness.wire import Command, ResponseCode
from harness.wire.bodies import TopicRoute
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

Given = Iterable[tuple[str | None, Queue]]


@mutant("217-is-ignored", "217 succeeds and does nothing.", V5)
def is_ignored(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        return None

    return parts.override("routes", register_topic)


@mutant("217-swaps-queue-numbers", "217 stores the number of read queues as that of write queues.", V5)
def swaps_queue_numbers(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        swapped = [(name, Queue(one.write, one.read, one.perm, one.flag)) for name, one in queues]
        RouteTable53.register_topic(self, topic, swapped)

    return parts.override("routes", register_topic)


@mutant("217-takes-one-queue-data", "217 stores the first queue data alone.", V5)
def takes_one_queue_data(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        RouteTable53.register_topic(self, topic, list(queues)[:1])

    return parts.override("routes", register_topic)


@mutant("217-is-answered-with-the-route", "The answer to 217 has the body of the request.", V5)
def is_answered_with_the_route(parts: Parts) -> Parts:
    def register_topic(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        reply = NameServer53.register_topic(self, command, connection, now)
        reply.body = command.body
        return reply

    return parts.override("nameserver", register_topic)


@mutant("217-takes-unknown-brokers", "217 gives a topic to brokers that nobody has registered.", V5)
def takes_unknown_brokers(parts: Parts) -> Parts:
    def knows_name(self: RouteTable53, name: str) -> bool:
        return True

    return parts.override("routes", knows_name)


@mutant("217-passes-over-unknown-brokers", "217 leaves unknown brokers out and stores the others.", V5)
def passes_over_unknown_brokers(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        known = [(name, queue) for name, queue in queues if name in self.brokers]
        RouteTable53.register_topic(self, topic, known)

    return parts.override("routes", register_topic)


@mutant("217-is-all-or-nothing", "217 stores nothing for a known topic if one broker is unknown.", V5)
def is_all_or_nothing(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        given = list(queues)
        if all(name in self.brokers for name, _ in given):
            RouteTable53.register_topic(self, topic, given)

    return parts.override("routes", register_topic)


@mutant("217-changes-no-known-topic", "217 leaves a topic that exists as it is.", V5)
def changes_no_known_topic(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        if topic not in self.topics:
            RouteTable53.register_topic(self, topic, queues)

    return parts.override("routes", register_topic)


@mutant("217-replaces-the-topic", "217 takes a topic from the brokers that it does not name.", V5)
def replaces_the_topic(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        given = list(queues)
        if given and topic in self.topics:
            self.delete_topic(topic)
        RouteTable53.register_topic(self, topic, given)

    return parts.override("routes", register_topic)


@mutant("217-needs-a-body", "217 without a body is refused.", V5)
def needs_a_body(parts: Parts) -> Parts:
    def given_queues(self: NameServer53, command: Command) -> list[tuple[str | None, Queue]]:
        if not command.body:
            raise RefusedError("there is no body")
        return NameServer53.given_queues(self, command)

    return parts.override("nameserver", given_queues)


@mutant("217-empties-the-topic", "217 without queue data deletes the topic.", V5)
def empties_the_topic(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Given) -> None:
        given = list(queues)
        if not given:
            self.delete_topic(topic)
        RouteTable53.register_topic(self, topic, given)

    return parts.override("routes", register_topic)


@mutant("217-without-topic-is-for-the-empty-topic", '217 without a topic gives queues to the topic "".', V5)
def without_topic_is_for_the_empty_topic(parts: Parts) -> Parts:
    def register_topic(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        topic = fields.text(command.ext, "topic") or ""
        self.routes.register_topic(topic, self.given_queues(command))
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", register_topic)


@mutant("217-forgives-malformed-bodies", "217 with a body that is no JSON succeeds.", V5)
def forgives_malformed_bodies(parts: Parts) -> Parts:
    def given_queues(self: NameServer53, command: Command) -> list[tuple[str | None, Queue]]:
        try:
            return NameServer53.given_queues(self, command)
        except RefusedError:
            return []

    return parts.override("nameserver", given_queues)


@mutant("217-registers-brokers", "217 takes over the broker data of its body.", V5)
def registers_brokers(parts: Parts) -> Parts:
    def given_queues(self: NameServer53, command: Command) -> list[tuple[str | None, Queue]]:
        queues = NameServer53.given_queues(self, command)
        for data in TopicRoute.decode(command.body).broker_datas if queues else ():
            name = data.broker_name or ""
            known = self.routes.brokers.setdefault(name, Broker(data.cluster or "", name, {}))
            known.addresses |= data.broker_addrs
        return queues

    return parts.override("nameserver", given_queues)


@mutant("217-reads-standard-json-only", "217 refuses a body with unquoted broker ids.", V5)
def reads_standard_json_only(parts: Parts) -> Parts:
    def given_queues(self: NameServer53, command: Command) -> list[tuple[str | None, Queue]]:
        if b'"brokerAddrs":{0:' in command.body:
            raise RefusedError("the body is no JSON")
        return NameServer53.given_queues(self, command)

    return parts.override("nameserver", given_queues)


@mutant("217-needs-a-master", "217 does not know a broker name that has no master.", V5)
def needs_a_master(parts: Parts) -> Parts:
    def knows_name(self: RouteTable53, name: str) -> bool:
        return name in self.brokers and MASTER in self.brokers[name].addresses

    return parts.override("routes", knows_name)
