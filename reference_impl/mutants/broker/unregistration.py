"""Mutants of the chapter unregistration."""

import msgspec

from harness.wire import Command
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.mutants.registry import after, mutant


@mutant(Registrar.stop, "The Broker does not unregister when it stops.")
def leaves_without_a_word(original, self, now):
    self.is_stopping = True


@after(RegistrationRequests.departure, "An unregistration lacks brokerId.")
def departure_without_id(made):
    ext = {name: text for name, text in (made.ext or {}).items() if name != "brokerId"}
    return msgspec.structs.replace(made, ext=ext)


@mutant(Registrar._departed, "The Broker does not end once it has unregistered.")
def broker_that_has_left_stays(original, self, reply, now):
    return


@mutant(Registrar.addresses, "The Broker unregisters only from its first NameServer.")
def unregisters_from_the_first_only(original, self):
    return original(self)[:1]


@mutant(Registrar.stop, "One silent NameServer blocks unregistration from the next.")
def unregisters_until_one_is_silent(original, self, now):
    left = list(self.addresses())
    self.is_stopping = True

    def told(reply: Command | None, now: int) -> None:
        if reply is not None and left:
            self.broker.ask(left.pop(0), self.broker.registration_requests.departure(), 3_000, told)
        else:
            self._departures = 0

    self._departures = 1
    self.broker.ask(left.pop(0), self.broker.registration_requests.departure(), 3_000, told)
