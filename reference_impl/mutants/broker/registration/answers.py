"""Faults of what a Broker does with the answers to its registrations."""

import msgspec

from harness.wire import WireError
from harness.wire.bodies import KvTable
from reference_impl.broker.endpoint import Endpoint
from reference_impl.broker.part import NEVER
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.broker.settings import Settings
from reference_impl.broker.slave_sync import SlaveSync
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V4, V5, after, mutant


@mutant(Settings.take, "A change of brokerPermission is announced with the next registration only.")
def changed_permission_is_not_announced(original, self, pairs, now):
    stops = self.broker.registrar.is_stopping
    self.broker.registrar.is_stopping = True
    original(self, pairs, now)
    self.broker.registrar.is_stopping = stops


@after(Endpoint.request, "Requests of the Broker do not say its version.")
def requests_have_no_version(command):
    return msgspec.structs.replace(command, version=0)


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


@mutant(Topics.set_order, "An order that comes again unchanged increases the data version.")
def known_orders_raise_the_data_version(original, self, ordered, now):
    before = self.version.counter
    original(self, ordered, now)
    if self.version.counter == before and any(name in ordered for name in self.table):
        self.changed(now)


@mutant(Registrar._registered, "The answer of every NameServer is applied, one after the other.", V5)
def every_answer_is_applied(original, self, round_, reply, now):
    round_.is_applied = False
    original(self, round_, reply, now)


@mutant(Registrar._registered, "What a refusal carries is applied.")
def refusals_are_applied(original, self, round_, reply, now):
    original(self, round_, reply and msgspec.structs.replace(reply, code=0), now)


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


@mutant(Registrar.register, "The answer to the first registration is not looked at for the order of topics.")
def first_registrations_take_no_order(original, self, now, *, force, check_order, oneway=False):
    is_first = now < self.broker.started + 10_000
    original(self, now, force=force, check_order=check_order and not is_first, oneway=oneway)


@mutant(Registrar._register, "The answer about one changed topic is not looked at for its order.")
def changes_of_topics_take_no_order(original, self, topics, *, check_order, oneway=False):
    whole = len(topics := list(topics)) > 1
    original(self, topics, check_order=check_order and whole, oneway=oneway)
