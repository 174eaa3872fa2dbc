"""Faults of when a Broker registers."""

from reference_impl.broker.registrar import Registrar
from reference_impl.mutants.registry import mutant


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


@mutant(Registrar.register, "A change of the Broker's permission waits for the next registration.")
def changes_of_permission_wait(original, self, now, *, force, check_order, oneway=False):
    if check_order or oneway:
        original(self, now, force=force, check_order=check_order, oneway=oneway)


@mutant(Registrar.register, "The order of topics is taken over when the Broker's permission changes.")
def changes_of_permission_take_the_order(original, self, now, *, force, check_order, oneway=False):
    original(self, now, force=force, check_order=True, oneway=oneway)
