"""Faults of registrations in chunks, and of topics that are registered singly or anew."""

import msgspec

from harness.wire import WireError
from harness.wire.bodies import KvTable, NullBodyError, TopicRoute
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.mutants.registry import V4, V5, after, family, mutant


@mutant(Registrar._register_in_parts, "enableSplitRegistration has no effect.", V5)
def split_registrations_are_whole(original, self, now, *, check_order, oneway):
    self._register(self._shown(), check_order=check_order, oneway=oneway)


@family(Registrar._register_in_parts)
def _in_parts(change, original, self, now, *, check_order, oneway):
    """Do something with each part of a registration before it is sent; there is one more for no topics."""
    topics, size = self._shown(), self.config.split_registration_size
    for start in range(0, len(topics) + 1, size):
        chunk = topics[start : start + size]
        change(self, chunk, now)
        if chunk:
            self._register(chunk, check_order=check_order, oneway=oneway)


@_in_parts("The last, incomplete chunk is not registered.", V5)
def last_chunk_is_left_out(self, chunk, now):
    if self.profile.name == "5.3":
        self.broker.topics.changed(now)
    if len(chunk) < self.config.split_registration_size:
        chunk.clear()


@mutant(Registrar._register_in_parts, "The first topic is in no chunk of a registration.", V5)
def chunks_lack_the_first_topic(original, self, now, *, check_order, oneway):
    topics, size = self._shown()[1:], self.config.split_registration_size
    for start in range(0, len(topics) + 1, size):
        if self.profile.name == "5.3":
            self.broker.topics.changed(now)
        self._register(topics[start : start + size], check_order=check_order, oneway=oneway)


@_in_parts("All chunks of a registration share one data version.", ["5.3"])
def chunks_share_their_data_version(_self, _chunk, _now):
    return None


@_in_parts("Each chunk of a registration has a data version of its own.", ["5.5"])
def chunks_have_data_versions_of_their_own(self, _chunk, now):
    self.broker.topics.changed(now)


@mutant(Registrar.register, "A split registration queries for changes first.", V5)
def split_registrations_ask_first(original, self, now, *, force, check_order, oneway=False):
    if not force:
        self._probe(check_order=check_order, oneway=oneway)
    original(self, now, force=force, check_order=check_order, oneway=oneway)


def _registers_whole(registrar, topics):
    """Announce topics that an administrator changed with the whole Broker."""
    shown = [registrar.broker.registration_requests.shown(topic, keeps_flag=True) for topic in topics]
    registrar._register(shown, check_order=True)


@mutant(Registrar.announce, "enableSingleTopicRegister has no effect.", V5)
def single_topics_are_registered_with_the_broker(original, self, topics, now):
    _registers_whole(self, topics)


@mutant(Registrar.announce, "Only topics created by sends are registered singly.", V5)
def administered_topics_are_registered_with_the_broker(original, self, topics, now):
    _registers_whole(self, topics)


@administered_topics_are_registered_with_the_broker.also(Registrar.topic_created)
def _(original, self, topic, now):
    Registrar.announce(self, [topic], now)


@mutant(Registrar.announce, "Of several topics, the first alone is registered singly.", V5)
def only_the_first_topic_is_registered_singly(original, self, topics, now):
    original(self, topics[:1] if self.config.enable_single_topic_register else topics, now)


@mutant(
    RegistrationRequests.single_topic,
    "A topic registered singly is missing from all other registrations.",
    V5,
)
def single_topics_are_all(original, self, topic):
    vars(self).setdefault("said", set()).add(topic.topic_name)
    return original(self, topic)


@single_topics_are_all.also(RegistrationRequests.registration)
def _(original, self, topics, version):
    left = [topic for topic in topics if topic.topic_name not in vars(self).get("said", ())]
    return original(self, left, version)


@family(RegistrationRequests.single_topic)
def _single(change, original, self, topic):
    """Change the queues of a topic that is registered by itself, or leave them out."""
    command = original(self, topic)
    (queue,) = TopicRoute.decode(command.body).queue_datas
    changed = change(queue)
    route = TopicRoute(queue_datas=[] if changed is None else [changed])
    return msgspec.structs.replace(command, body=route.encode("legacy"))


@_single("A topic registered singly has no queues.", V5)
def single_topic_has_no_queues(queue):
    return None


@_single("A topic registered singly always has permission 6.", V5)
def single_topic_has_its_own_permission(queue):
    return msgspec.structs.replace(queue, perm=6)


@mutant(Registrar.topic_created, "4.9 announces a new topic without the others.", V4)
def new_topic_49_is_announced_alone(original, self, topic, now):
    self.announce([topic], now)


@mutant(Registrar.topic_created, "A topic that a send creates is announced twice.", V4)
def new_topic_49_is_announced_twice(original, self, topic, now):
    original(self, topic, now)
    self.register(now, force=True, check_order=False)


@mutant(Registrar.topic_created, "5.x announces a new topic with all others.", V5)
def new_topic_53_is_announced_with_all(original, self, topic, now):
    self.register(now, force=True, check_order=False)


@after(RegistrationRequests.version, "A new topic does not increase the data version.")
def new_topic_keeps_the_data_version(found):
    return msgspec.structs.replace(found, counter=0)


@mutant(Registrar._shown, "Periodic registrations contain only system topics.")
def table_without_new_topics(original, self):
    known = {one.topic_name for one in self.broker.topics.system_topics()}
    return [one for one in original(self) if one.topic_name in known]


@mutant(Registrar._register_in_parts, "The chunks of a registration end with one more without topics.", V5)
def last_chunk_comes_twice(original, self, now, *, check_order, oneway):
    original(self, now, check_order=check_order, oneway=oneway)
    self._register([], check_order=check_order, oneway=oneway)


@mutant(Registrar.take_order, "What follows an answer that cannot be read waits for the next round.", V5)
def bad_tables_hold_the_next_part_up(original, self, body, now):
    try:
        KvTable.decode(body)
    except (WireError, NullBodyError):
        for nameserver in self._nameservers.values():
            nameserver.clear()
    original(self, body, now)
