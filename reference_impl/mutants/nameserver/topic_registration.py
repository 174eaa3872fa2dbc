"""Faults of registering topics without a broker (code 217, 5.x)."""

from collections.abc import Iterable

from harness.wire import ResponseCode
from harness.wire.bodies import TopicRoute
from reference_impl.mutants.registry import V5, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import MASTER
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

Given = Iterable[tuple[str | None, Queue]]


@mutant(RouteTable53.register_topic, "217 succeeds and does nothing.", V5)
def _217_is_ignored(original, self, topic, queues):
    return None


@mutant(RouteTable53.register_topic, "217 stores the number of read queues as that of write queues.", V5)
def _217_swaps_queue_numbers(original, self, topic, queues):
    swapped = [(name, Queue(one.write, one.read, one.perm, one.flag)) for name, one in queues]
    RouteTable53.register_topic(self, topic, swapped)


@mutant(RouteTable53.register_topic, "217 stores the first queue data alone.", V5)
def _217_takes_one_queue_data(original, self, topic, queues):
    RouteTable53.register_topic(self, topic, list(queues)[:1])


@mutant(NameServer53.register_topic, "The answer to 217 has the body of the request.", V5)
def _217_is_answered_with_the_route(original, self, command, connection, now):
    reply = NameServer53.register_topic(self, command, connection, now)
    reply.body = command.body
    return reply


@mutant(RouteTable53.knows_name, "217 gives a topic to brokers that are not registered.", V5)
def _217_takes_unknown_brokers(original, self, name):
    return True


@mutant(RouteTable53.register_topic, "217 leaves unknown brokers out and stores the others.", V5)
def _217_passes_over_unknown_brokers(original, self, topic, queues):
    known = [(name, queue) for name, queue in queues if name in self.brokers]
    RouteTable53.register_topic(self, topic, known)


@mutant(RouteTable53.register_topic, "217 stores nothing for a known topic if one broker is unknown.", V5)
def _217_is_all_or_nothing(original, self, topic, queues):
    given = list(queues)
    if all(name in self.brokers for name, _ in given):
        RouteTable53.register_topic(self, topic, given)


@mutant(RouteTable53.register_topic, "217 leaves a topic that exists as it is.", V5)
def _217_changes_no_known_topic(original, self, topic, queues):
    if topic not in self.topics:
        RouteTable53.register_topic(self, topic, queues)


@mutant(RouteTable53.register_topic, "217 takes a topic from the brokers that it does not name.", V5)
def _217_replaces_the_topic(original, self, topic, queues):
    given = list(queues)
    if given and topic in self.topics:
        self.delete_topic(topic)
    RouteTable53.register_topic(self, topic, given)


@mutant(NameServer53.given_queues, "217 without a body is refused.", V5)
def _217_needs_a_body(original, self, command):
    if not command.body:
        raise RefusedError("there is no body")
    return NameServer53.given_queues(self, command)


@mutant(RouteTable53.register_topic, "217 without queue data deletes the topic.", V5)
def _217_empties_the_topic(original, self, topic, queues):
    given = list(queues)
    if not given:
        self.delete_topic(topic)
    RouteTable53.register_topic(self, topic, given)


@mutant(NameServer53.register_topic, '217 without a topic gives queues to the topic "".', V5)
def _217_without_topic_is_for_the_empty_topic(original, self, command, connection, now):
    topic = fields.text(command.ext, "topic") or ""
    self.routes.register_topic(topic, self.given_queues(command))
    return Reply(ResponseCode.SUCCESS)


@mutant(NameServer53.given_queues, "217 with a body that is not JSON succeeds.", V5)
def _217_forgives_malformed_bodies(original, self, command):
    try:
        return NameServer53.given_queues(self, command)
    except RefusedError:
        return []


@mutant(NameServer53.given_queues, "217 takes over the broker data of its body.", V5)
def _217_registers_brokers(original, self, command):
    queues = NameServer53.given_queues(self, command)
    for data in TopicRoute.decode(command.body).broker_datas if queues else ():
        name = data.broker_name or ""
        known = self.routes.brokers.setdefault(name, Broker(data.cluster or "", name, {}))
        known.addresses |= data.broker_addrs
    return queues


@mutant(NameServer53.given_queues, "217 refuses a body with unquoted broker ids.", V5)
def _217_reads_standard_json_only(original, self, command):
    if b'"brokerAddrs":{0:' in command.body:
        raise RefusedError("the body is no JSON")
    return NameServer53.given_queues(self, command)


@mutant(RouteTable53.knows_name, "217 does not know a broker name that has no master.", V5)
def _217_needs_a_master(original, self, name):
    return name in self.brokers and MASTER in self.brokers[name].addresses
