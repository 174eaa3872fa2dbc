"""Faults of what a registration contains."""

from zlib import crc32

import msgspec

from harness.wire.bodies import DataVersion, RegisterBody
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V4, V5, after, family, mutant


@after(RegistrationRequests.registration_ext, "A registration lacks haServerAddr.")
def registration_without_replication_address(ext):
    ext.pop("haServerAddr")


@after(RegistrationRequests.registration_ext, "Slaves are sent to brokerIP1.")
def slaves_are_sent_where_clients_are(ext, self):
    port = (ext["haServerAddr"] or "").rpartition(":")[2]
    ext["haServerAddr"] = f"{self.config.broker_ip1}:{port}"


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


@mutant(Topics.made, "The topic for replies has no queue.")
def topic_of_replies_has_no_queue(original, self, topic, queues, perm=6, flag=0):
    return original(self, topic, 0 if topic.endswith("_REPLY_TOPIC") else queues, perm, flag)


@mutant(Topics.made, "System topics have four queues and permission 6, whatever the settings say.", V5)
def topics_of_the_system_have_fixed_queues(original, self, topic, queues, perm=6, flag=0):
    return original(self, topic, 4 if topic.startswith(("rmq_sys_", "TBW")) else queues, 6, flag)


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
