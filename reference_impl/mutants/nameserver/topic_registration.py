"""Faults of registering topics without a broker (code 217, 5.x)."""

from collections.abc import Iterable

import msgspec

from harness.wire import ResponseCode
from harness.wire.bodies import TopicRoute
from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import MASTER
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

Given = Iterable[tuple[str | None, Queue]]


@mutant(RouteTable53.register_topic, "217 succeeds and does nothing.")
def _217_is_ignored(original, self, topic, queues):
    return None


@mutant(RouteTable53.register_topic, "217 stores the number of read queues as that of write queues.")
def _217_swaps_queue_numbers(original, self, topic, queues):
    swapped = [(name, Queue(one.write, one.read, one.perm, one.flag)) for name, one in queues]
    original(self, topic, swapped)


@mutant(NameServer53.given_queues, "The body of 217 ends at 64 KiB.")
def _217_reads_64_kib(original, self, command):
    return original(self, msgspec.structs.replace(command, body=command.body[: 2**16]))


@mutant(RouteTable53.register_topic, "217 stores only the first queue data.")
def _217_takes_one_queue_data(original, self, topic, queues):
    original(self, topic, list(queues)[:1])


@after(NameServer53.register_topic, "The answer to 217 has the body of the request.")
def _217_is_answered_with_the_route(reply, command):
    reply.body = command.body


@mutant(RouteTable53.knows_name, "217 gives a topic to brokers that are not registered.")
def _217_takes_unknown_brokers(original, self, name):
    return True


@mutant(RouteTable53.register_topic, "217 skips unknown brokers and stores the others.")
def _217_passes_over_unknown_brokers(original, self, topic, queues):
    known = [(name, queue) for name, queue in queues if name in self.brokers]
    original(self, topic, known)


@mutant(RouteTable53.register_topic, "217 stores nothing for a known topic if one broker is unknown.")
def _217_is_all_or_nothing(original, self, topic, queues):
    given = list(queues)
    if all(name in self.brokers for name, _ in given):
        original(self, topic, given)


@mutant(RouteTable53.register_topic, "217 does not change an existing topic.")
def _217_changes_no_known_topic(original, self, topic, queues):
    if topic not in self.topics:
        original(self, topic, queues)


@mutant(RouteTable53.register_topic, "217 removes a topic from the brokers that it does not name.")
def _217_replaces_the_topic(original, self, topic, queues):
    given = list(queues)
    if given and topic in self.topics:
        self.delete_topic(topic)
    original(self, topic, given)


@mutant(NameServer53.given_queues, "217 without a body is refused.")
def _217_needs_a_body(original, self, command):
    if not command.body:
        raise RefusedError("there is no body")
    return original(self, command)


@mutant(RouteTable53.register_topic, "217 without queue data deletes the topic.")
def _217_empties_the_topic(original, self, topic, queues):
    given = list(queues)
    if not given:
        self.delete_topic(topic)
    original(self, topic, given)


@mutant(NameServer53.register_topic, '217 without a topic gives queues to the topic "".')
def _217_without_topic_is_for_the_empty_topic(original, self, command, connection, now):
    topic = fields.text(command.ext, "topic") or ""
    self.routes.register_topic(topic, self.given_queues(command))
    return Reply(ResponseCode.SUCCESS)


@mutant(NameServer53.given_queues, "217 accepts a body that is not JSON.")
def _217_forgives_malformed_bodies(original, self, command):
    try:
        return original(self, command)
    except RefusedError:
        return []


@after(NameServer53.given_queues, "217 registers the broker data in its body.")
def _217_registers_brokers(queues, self, command):
    for data in TopicRoute.decode(command.body).broker_datas if queues else ():
        name = data.broker_name or ""
        known = self.routes.brokers.setdefault(name, Broker(data.cluster or "", name, {}))
        known.addresses |= data.broker_addrs


@mutant(NameServer53.given_queues, "217 refuses a body with unquoted broker ids.")
def _217_reads_standard_json_only(original, self, command):
    if b'"brokerAddrs":{0:' in command.body:
        raise RefusedError("the body is no JSON")
    return original(self, command)


@mutant(RouteTable53.knows_name, "217 does not know a broker name that has no master.")
def _217_needs_a_master(original, self, name):
    return name in self.brokers and MASTER in self.brokers[name].addresses


@mutant(
    NameServer53.given_queues,
    "217 refuses a body with members that it does not know or that have other types.",
)
def _217_reads_strict_members_only(original, self, command):
    try:
        msgspec.json.decode(command.body or b"{}", type=TopicRoute)
    except msgspec.ValidationError as error:
        raise RefusedError(str(error)) from error
    return original(self, command)


@mutant(NameServer53.given_queues, "217 without a permission gives that of a new topic.")
def _217_gives_the_permission_of_a_new_topic(original, self, command):
    given = original(self, command)
    return [(name, Queue(one.read, one.write, one.perm or 6, one.flag)) for name, one in given]


@mutant(NameServer53.given_queues, "217 without numbers of queues gives those of a new topic.")
def _217_gives_the_queues_of_a_new_topic(original, self, command):
    given = original(self, command)
    return [(name, Queue(one.read or 16, one.write or 16, one.perm, one.flag)) for name, one in given]


@mutant(NameServer53.given_queues, "217 takes a text for a list.", ["5.3"])
def _217_takes_text_for_a_list(original, self, command):
    body = command.body.replace(b'"x":""', b'"x":[]')
    return original(self, msgspec.structs.replace(command, body=body))


@mutant(NameServer53.given_queues, "What is no UTF-8 in a 217 is replaced.")
def topic_registrations_that_are_no_utf_8_are_read(original, self, command):
    return original(self, msgspec.structs.replace(command, body=command.body.replace(b"\xff", b"?")))
