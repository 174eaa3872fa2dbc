"""Faults of registration (code 103): what is refused or ignored."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.versions import V3_0_11
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Broker
from reference_impl.remoting.reply import RefusedError, Reply


def _with_null(name, command):
    """A request in which the null of an identifier is a value."""
    ext = command.ext or {}
    return command if name in ext else msgspec.structs.replace(command, ext={**ext, name: "null"})


# -- what is refused or ignored ------------------------------------------------------------------------------


@mutant(NameServer.registration, "A registration without broker name is kept under the name null.")
def broker_name_may_be_missing(original, self, command, now):
    return original(self, _with_null("brokerName", command), now)


@mutant(NameServer.registration, "A registration without broker address is kept with the address null.")
def broker_address_may_be_missing(original, self, command, now):
    return original(self, _with_null("brokerAddr", command), now)


@mutant(NameServer.registration, "A registration without cluster name is kept in the cluster null.")
def cluster_name_may_be_missing(original, self, command, now):
    return original(self, _with_null("clusterName", command), now)


@mutant(
    NameServer.register, "After a registration without broker address no broker goes with its connection."
)
def missing_address_ends_the_search(original, self, command, connection, now):
    if "brokerAddr" not in (command.ext or {}):
        self.routes.__dict__["unsearchable"] = True
    elif "unsearchable" in self.routes.__dict__:
        connection = -1
    return original(self, command, connection, now)


@mutant(
    NameServer.register, "An unnamed topic aborts a registration half-way, yet it is answered with success."
)
def unnamed_topic_ends_the_registration(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError as refused:
        if "topicName" in str(refused.remark):
            return Reply(ResponseCode.SUCCESS, ext={})
        raise


@after(RouteTable.refuses, "A refused registration leaves its name and its cluster behind.", V5)
def refused_registration_is_listed(refused, self, broker, registration):
    if refused and broker is None:
        self.join_cluster(registration)
        self.brokers[registration.broker] = Broker(registration.cluster, registration.broker, {})


@after(RouteTable.refuses, "A refused registration drops the address under its former id.", V5)
def refused_registration_drops_former_id(refused, self, broker, registration):
    if refused and broker is not None:
        self.forget_other_ids(broker, registration)


@mutant(RouteTable.reject, "An ignored registration sets the zone of its broker name.", V5)
def ignored_registration_describes(original, self, broker, registration):
    self.describe(broker, registration)
    original(self, broker, registration)


@after(NameServer.register_body, "A registration without a body keeps the filter servers.")
def no_body_keeps_filter_servers(body, command):
    if not command.body:
        body.filter_servers = None


@after(NameServer.register_body, "A registration of version 37 without a body keeps the filter servers.")
def no_body_of_version_37_keeps_filter_servers(body, command):
    if not command.body and command.version == V3_0_11:
        body.filter_servers = None


def _in_other_words(reply, remark):
    """A reply that has this remark, with another one."""
    return msgspec.structs.replace(reply, remark="no") if reply.remark == remark else reply


@after(NameServer.register, "The remark of a refusal because of the checksum is not Apache's.")
def crc_refusal_has_another_remark(reply):
    return _in_other_words(reply, "crc32 not match")


@after(NameServer.register, "The remark of a refusal because of a lone topic is not Apache's.", V5)
def refused_topic_has_another_remark(reply):
    return _in_other_words(reply, "register broker failed")


def _repaired(command):
    """A request whose JSON body has U+FFFD where it is no UTF-8."""
    if not command.body.startswith(b"{"):
        return command
    return msgspec.structs.replace(command, body=command.body.decode(errors="replace").encode())


@mutant(NameServer.register_body, "What is no UTF-8 in a registration is replaced.", V5)
def registrations_that_are_no_utf_8_are_read(original, self, command):
    return original(self, _repaired(command))


@mutant(NameServer.register_body, "A registration that is no UTF-8 is refused.", V4)
def registrations_that_are_no_utf_8_are_refused(original, self, command):
    if _repaired(command).body != command.body:
        raise RefusedError("the body is no UTF-8")
    return original(self, command)
