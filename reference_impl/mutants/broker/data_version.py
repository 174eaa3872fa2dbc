"""Mutants of the chapter data-version."""

from collections.abc import Mapping

import msgspec

from harness.wire import Command, ResponseCode
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V4, after, mutant

SUCCESS = ResponseCode.SUCCESS


@mutant(Registrar.forces, "The Broker always queries for changes before it registers again.")
def asks_although_forced(original, self):
    return False


@mutant(Registrar.topic_created, "The Broker queries for changes when a topic is created.")
def asks_about_new_topics(original, self, topic, now):
    self._probe(check_order=False, oneway=False)
    original(self, topic, now)


@mutant(Registrar.forces, "forceRegister=false has no effect.")
def registers_without_asking(original, self):
    return True


@after(RegistrationRequests.probe, "QUERY_DATA_VERSION lacks brokerId.")
def question_without_id(asked):
    ext = {name: text for name, text in (asked.ext or {}).items() if name != "brokerId"}
    return msgspec.structs.replace(asked, ext=ext)


@mutant(RegistrationRequests.probe, "QUERY_DATA_VERSION contains the next data version.")
def question_has_another_version(original, self, version):
    return original(self, msgspec.structs.replace(version, counter=version.counter + 1))


@mutant(
    Registrar.register,
    "With forceRegister=false, the Broker queries for changes before its first registration, too.",
    V4,
)
def asks_at_the_start(original, self, now, *, force, check_order, oneway=False):
    forced = force and self.config.force_register
    original(self, now, force=forced, check_order=check_order, oneway=oneway)


@mutant(Registrar.calls_for_registration, "A Broker registers whatever a NameServer answers.")
def unchanged_is_registered_too(original, self, reply, version):
    return True


@mutant(Registrar.calls_for_registration, "A Broker that learns of changes does not register.")
def changed_is_not_registered(original, self, reply, version):
    return original(self, reply, version) and (reply is None or _changed(reply) != "true")


@mutant(Registrar.calls_for_registration, "The Broker ignores the data version in the answer.")
def answered_version_is_not_compared(original, self, reply, version):
    return original(self, reply, version) and (reply is None or _changed(reply) != "false")


@mutant(Registrar.calls_for_registration, "An answer without the field changed counts as unchanged.")
def unsaid_is_unchanged(original, self, reply, version):
    return original(self, reply, version) and (reply is None or _changed(reply) is not None)


@mutant(Registrar.calls_for_registration, "An error response counts as changed.")
def refusal_is_registered(original, self, reply, version):
    return original(self, reply, version) or (reply is not None and reply.code != ResponseCode.SUCCESS)


@mutant(Registrar.calls_for_registration, "An unanswered query counts as unchanged.", V4)
def unreachable_is_unchanged(original, self, reply, version):
    return original(self, reply, version) and reply is not None


@mutant(Topics.settle, "The topic table is not written to disk.")
def topics_are_forgotten(original, self, now):
    return


def _changed(reply: Command) -> str | None:
    ext: Mapping[str, str | None] = reply.ext or {}
    return ext.get("changed")


@mutant(Registrar.calls_for_registration, "A data version that cannot be read is no reason to register.")
def nonsense_is_unchanged(original, self, reply, version):
    if reply is not None and reply.body == b"{":
        return False
    return original(self, reply, version)


@mutant(Registrar._probe, "The NameServer that answers first decides whether the Broker registers.")
def first_nameserver_decides(original, self, *, check_order, oneway):
    requests, is_decided = self.broker.registration_requests, []
    version = requests.version()

    def answered(reply, now):
        is_decided.append(reply)
        if len(is_decided) == 1 and self.calls_for_registration(reply, version):
            self._register(self._shown(), check_order=check_order, oneway=oneway)

    self._send_all(requests.probe(version), self.within(), answered)


@mutant(Registrar._probe, "The Broker registers once for each NameServer that reports a change.")
def every_nameserver_calls_for_a_registration(original, self, *, check_order, oneway):
    requests = self.broker.registration_requests
    version = requests.version()

    def answered(reply, now):
        if self.calls_for_registration(reply, version):
            self._register(self._shown(), check_order=check_order, oneway=oneway)

    self._send_all(requests.probe(version), self.within(), answered)
