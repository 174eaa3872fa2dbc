"""Mutants of the chapter registration."""

from zlib import crc32

import msgspec

from harness.wire import WireError
from harness.wire.bodies import DataVersion, KvTable, RegisterBody, TopicRoute
from reference_impl.broker.endpoint import Endpoint
from reference_impl.broker.part import NEVER
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.broker.settings import Settings
from reference_impl.broker.slave_sync import SlaveSync
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V4, V5, after, family, mutant

# --- when ---------------------------------------------------------------------------------------------------


@mutant(Registrar.register, "The registration at startup is one-way.")
def registration_at_start_is_oneway(original, self, now, *, force, check_order, oneway=False):
    original(self, now, force=force, check_order=check_order, oneway=True)


@mutant(Registrar.tick, "The second registration follows after a full period instead of ten seconds.")
def registers_again_late(original, self, now):
    if self._next_at == self.broker.started + 10_000 and now >= self._next_at:
        self._next_at += 10_000
    original(self, now)


@mutant(Registrar.period, "registerNameServerPeriod has no effect.")
def registration_period_is_fixed(original, self):
    return 30_000


@mutant(Registrar.period, "By default, the Broker registers every 60 s.")
def registers_every_sixty_seconds(original, self):
    told = self.config.register_name_server_period
    return 60_000 if told == 30_000 else max(10_000, min(told, 60_000))


@mutant(Registrar.period, "Periods below 10 s are accepted as they are.")
def registers_as_often_as_told(original, self):
    return min(self.config.register_name_server_period, 60_000)


@mutant(Registrar.period, "Periods above 60 s are accepted as they are.")
def registers_as_rarely_as_told(original, self):
    return max(10_000, self.config.register_name_server_period)


# --- what ---------------------------------------------------------------------------------------------------


@after(RegistrationRequests.registration_ext, "A registration lacks haServerAddr.")
def registration_without_replication_address(ext):
    ext.pop("haServerAddr")


@after(RegistrationRequests.registration, "The field compressed is sent only if it is true.")
def compression_is_not_said_when_there_is_none(command):
    ext = dict(command.ext or {})
    if ext.get("compressed") == "false":
        del ext["compressed"]
    return msgspec.structs.replace(command, ext=ext)


@mutant(RegistrationRequests.checksum, "bodyCrc32 keeps the highest bit.")
def registration_checksum_has_all_bits(original, self, body):
    return crc32(body) | 0x80000000


@after(RegistrationRequests.registration_ext, "A Broker of 4.9 sends enableActingMaster.", V4)
def registration_49_says_acting_master(ext):
    ext.update(enableActingMaster="false")


@after(RegistrationRequests.registration_ext, "A registration lacks enableActingMaster.", V5)
def registration_does_not_say_acting_master(ext):
    ext.pop("enableActingMaster")


@after(RegistrationRequests.version, "The data version of a Broker of 4.9 has a stateVersion.", V4)
def data_version_49_has_a_state(found):
    return DataVersion(found.counter, found.timestamp, 0)


@mutant(RegistrationRequests.version, "The data version of a Broker of 5.x has no stateVersion.", V5)
def data_version_53_has_no_state(original, self):
    found = original(self)
    return DataVersion(found.counter, found.timestamp, None)


@family(Topics.system_topics)
def _system(change, original, self):
    """Change each system topic, or leave it out."""
    changed = [change(self, topic) for topic in original(self)]
    return [topic for topic in changed if topic is not None]


@_system("SCHEDULE_TOPIC_XXXX is not announced.")
def system_topics_not_announced(self, topic):
    return None if topic.topic_name == "SCHEDULE_TOPIC_XXXX" else topic


@_system("TBW102 may not be inherited.")
def default_topic_has_perm_6(self, topic):
    return msgspec.structs.replace(topic, perm=6) if topic.topic_name == "TBW102" else topic


@_system("The topic named after the Broker does not exist.")
def broker_is_no_topic(self, one):
    return None if one.topic_name == self.config.broker_name else one


@_system("The topics used for transactions are not announced.", V5)
def half_topics_not_announced(self, one):
    return None if "_HALF_TOPIC" in (one.topic_name or "") else one


@_system("The topic for the Broker's members has permission 6.", V5)
def topic_of_members_is_readable(self, topic):
    is_it = "SYNC_BROKER_MEMBER" in (topic.topic_name or "")
    return msgspec.structs.replace(topic, perm=6) if is_it else topic


@after(Topics.system_topics, "TBW102 exists even if automatic topic creation is disabled.")
def default_topic_is_always_announced(topics, self):
    if not any(one.topic_name == "TBW102" for one in topics):
        topics.append(self.made("TBW102", 8, 7))


@after(RegistrationRequests.registration, "A registration lacks its list of filter servers.")
def registration_without_filter_servers(command):
    if b'"filterServerList":[],' not in command.body:
        return command
    body = command.body.replace(b'"filterServerList":[],', b'"filterServerList":null,')
    ext = {**(command.ext or {}), "bodyCrc32": str(crc32(body) & 0x7FFFFFFF)}
    return msgspec.structs.replace(command, body=body, ext=ext)


# --- in parts, and by single topics -------------------------------------------------------------------------


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


# --- new topics ---------------------------------------------------------------------------------------------


@mutant(Registrar.topic_created, "4.9 announces a new topic without the others.", V4)
def new_topic_49_is_announced_alone(original, self, topic, now):
    self.announce([topic], now)


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


# --- forms --------------------------------------------------------------------------------------------------


@after(RegistrationRequests.registration, "A compressed body is declared uncompressed.")
def compression_is_not_said(command):
    return msgspec.structs.replace(command, ext={**(command.ext or {}), "compressed": "false"})


@mutant(RegistrationRequests.body, "bodyCrc32 is computed before compression.")
def checksum_of_what_was_compressed(original, self, topics, version):
    listed = list(topics)
    made = original(self, listed, version)
    announced = RegisterBody(topics={one.topic_name or "": one for one in listed}, data_version=version)
    self.broker.__dict__["uncompressed"] = (made, announced.layout(self.profile.v5))
    return made


@checksum_of_what_was_compressed.also(RegistrationRequests.checksum)
def _(original, self, body):
    made, plain = self.broker.__dict__["uncompressed"]
    return original(self, plain if self.compresses() and made == body else body)


@mutant(RegistrationRequests.restricted, "brokerPermission has no effect on announced topics.")
def restricted_broker_announces_full_permissions(original, self, perm):
    return perm


@mutant(RegistrationRequests.restricted, "4.9 announces the permissions that both topic and Broker have.", V4)
def restricted_broker_49_has_what_both_allow(original, self, perm):
    return perm & self.config.broker_permission & 4


@mutant(RegistrationRequests.restricted, "5.x announces its own permission everywhere.", V5)
def restricted_broker_53_has_its_own_permission(original, self, perm):
    return self.config.broker_permission


# --- answers ------------------------------------------------------------------------------------------------


@mutant(Settings.take, "A change of brokerPermission is announced with the next registration only.")
def changed_permission_is_not_announced(original, self, pairs, now):
    stops = self.broker.registrar.is_stopping
    self.broker.registrar.is_stopping = True
    original(self, pairs, now)
    self.broker.registrar.is_stopping = stops


@mutant(Registrar._registered, "The Broker stops registering after a refusal.")
def gives_up_after_refusal(original, self, round_, reply, now):
    if reply is not None and reply.code != 0:
        self._next_at = 1 << 62
    original(self, round_, reply, now)


@mutant(Registrar._registered, "The Broker stops registering after an unanswered registration.")
def gives_up_after_silence(original, self, round_, reply, now):
    if reply is None:
        self._next_at = 1 << 62
    original(self, round_, reply, now)


@mutant(Endpoint.answered, "The Broker waits for ever for an answer that it could read.")
def gives_up_after_nonsense(original, self, number, frame, now):
    try:
        if frame is not None:
            self.read(frame)
    except WireError:
        return self.work()
    return original(self, number, frame, now)


@mutant(Registrar.take_order, "The Broker stops registering after an answer whose body it cannot read.")
def gives_up_after_a_bad_table(original, self, body, now):
    try:
        KvTable.decode(body)
    except WireError:
        self._next_at = 1 << 62


@mutant(Registrar._send_all, "The Broker registers only with its first NameServer.")
def registers_with_the_first_only(original, self, command, within, done):
    kept = self._nameservers
    self._nameservers = dict(list(kept.items())[:1])
    original(self, command, within, done)
    self._nameservers = kept


@mutant(Registrar.may_register, "One silent NameServer blocks registrations with all others.")
def nameservers_wait_for_each_other(original, self):
    waits = any(one._is_asked for one in self._nameservers.values())
    return original(self) and not waits


@nameservers_wait_for_each_other.also(Registrar.within)
def _(original, self):
    return 1_000_000


def _keep_nameservers(registrar, names):
    """Register with these NameServers from now on, and look up no others."""
    registrar._nameservers = {name: registrar._nameservers[name] for name in names}
    registrar._list_at = 1 << 62


@mutant(Registrar._registered, "One unreachable NameServer stops registrations with all others.")
def absent_nameserver_holds_up_others(original, self, round_, reply, now):
    if reply is None:
        _keep_nameservers(self, [])
    original(self, round_, reply, now)


@mutant(
    Registrar._registered, "The Broker never registers again with a NameServer that was once unreachable."
)
def absent_nameserver_is_forgotten(original, self, round_, reply, now):
    if reply is None:
        _keep_nameservers(self, list(self._nameservers)[1:])
    original(self, round_, reply, now)


@mutant(Registrar.take_order, "The Broker ignores the order table.")
def order_is_not_taken_over(original, self, body, now):
    return


@mutant(Topics.set_order, "A change of order does not increase the data version.")
def order_keeps_the_data_version(original, self, ordered, now):
    before = msgspec.structs.replace(self.version)
    original(self, ordered, now)
    self.version = before


@mutant(Registrar._registered, "The answer of every NameServer is applied, one after the other.", V5)
def every_answer_is_applied(original, self, round_, reply, now):
    round_.is_applied = False
    original(self, round_, reply, now)


@mutant(Registrar._registered, "An answer without a body makes all topics unordered.")
def no_table_is_an_empty_table(original, self, round_, reply, now):
    original(self, round_, reply, now)
    if reply is not None and not reply.body:
        for name, topic in list(self.broker.topics.table.items()):
            self.broker.topics.table[name] = msgspec.structs.replace(topic, order=False)


@mutant(Topics.ordered_now, "4.9 keeps topics ordered that the table no longer lists.", V4)
def order_49_stays(original, self, topic, is_listed):
    return topic.order or is_listed


@mutant(Topics.ordered_now, "5.x makes topics unordered that the table no longer lists.", V5)
def order_53_is_taken_back(original, self, topic, is_listed):
    return is_listed


# --- slaves -------------------------------------------------------------------------------------------------


@after(RegistrationRequests.registration_ext, "A slave registers with the id 0.")
def slave_registers_as_master(ext):
    ext.update(brokerId="0")


@mutant(SlaveSync.told, "A slave ignores the master in the answer to its registration.")
def told_master_is_ignored(original, self, master):
    return


@mutant(SlaveSync.next_tick, "A master fetches topics from the master in the answer to its registration.")
def master_asks_a_told_master(original, self):
    if self._next_at == NEVER:
        self._next_at = self.broker.started + self.first()
    return self._next_at


# --- NameServers that are named later -----------------------------------------------------------------------


@mutant(Registrar._read_list, "The Broker registers with the NameServers of its start only.")
def list_of_nameservers_is_fixed(original, self):
    if not self._nameservers:
        original(self)


@mutant(
    Registrar._read_list, "The Broker continues to register with NameServers that are not named any more."
)
def nameservers_are_only_added(original, self):
    before = self._nameservers
    original(self)
    self._nameservers = before | self._nameservers


@mutant(Topics.made, "The topic for replies has no queue.")
def topic_of_replies_has_no_queue(original, self, topic, queues, perm=6, flag=0):
    return original(self, topic, 0 if topic.endswith("_REPLY_TOPIC") else queues, perm, flag)


@mutant(Topics.made, "System topics have four queues and permission 6, whatever the settings say.", V5)
def topics_of_the_system_have_fixed_queues(original, self, topic, queues, perm=6, flag=0):
    return original(self, topic, 4 if topic.startswith(("rmq_sys_", "TBW")) else queues, 6, flag)


@mutant(Registrar.register, "A change of the Broker's permission waits for the next registration.")
def changes_of_permission_wait(original, self, now, *, force, check_order, oneway=False):
    if check_order or oneway:
        original(self, now, force=force, check_order=check_order, oneway=oneway)


@mutant(Registrar.register, "The order of topics is taken over when the Broker's permission changes.")
def changes_of_permission_take_the_order(original, self, now, *, force, check_order, oneway=False):
    original(self, now, force=force, check_order=True, oneway=oneway)


@mutant(Registrar._register_in_parts, "The chunks of a registration end with one more without topics.", V5)
def last_chunk_comes_twice(original, self, now, *, check_order, oneway):
    original(self, now, check_order=check_order, oneway=oneway)
    self._register([], check_order=check_order, oneway=oneway)


@mutant(RegistrationRequests.shown, "A restricted Broker registers every topic with its system flags.")
def restricted_broker_tells_system_flags(original, self, topic, *, keeps_flag):
    return msgspec.structs.replace(
        original(self, topic, keeps_flag=keeps_flag), topic_sys_flag=topic.topic_sys_flag
    )


@mutant(RegistrationRequests.shown, "A restricted Broker announces changes without system flags.", V5)
def restricted_broker_never_tells_system_flags(original, self, topic, *, keeps_flag):
    return original(self, topic, keeps_flag=False)


@mutant(RegistrationRequests.body, "A registration of 4.9 has tables of mappings.", V4)
def registrations_49_have_mappings(original, self, topics, version):
    said = {topic.topic_name or "": topic for topic in topics}
    return RegisterBody(said, version, mappings={}, mapping_data_version=version, mapping_details={}).encode()


@mutant(RegistrationRequests.body, "A registration of 5.x has no tables of mappings.", V5)
def registrations_53_have_no_mappings(original, self, topics, version):
    return RegisterBody({topic.topic_name or "": topic for topic in topics}, version).encode()
