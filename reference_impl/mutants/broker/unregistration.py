"""Mutants of the chapter unregistration."""

import msgspec

from harness.wire import Command
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.mutants.registry import after, mutant


@mutant(Registrar.stop, "A Broker that stops does not unregister.")
def leaves_without_a_word(original, self, now):
    self.is_stopping = True


@after(RegistrationRequests.departure, "An unregistration has no brokerId.")
def departure_without_id(made):
    ext = {name: text for name, text in (made.ext or {}).items() if name != "brokerId"}
    return msgspec.structs.replace(made, ext=ext)


@mutant(Registrar.addresses, "Only the first NameServer hears that a Broker goes.")
def unregisters_from_the_first_only(original, self):
    return original(self)[:1]


@mutant(Registrar.stop, "The Broker unregisters from the next NameServer when the one before has answered.")
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
