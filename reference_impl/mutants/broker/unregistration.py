"""Mutants of the chapter unregistration."""

from collections.abc import Sequence

import msgspec

from harness.wire import Command
from reference_impl.broker.announcing import Announcing
from reference_impl.broker.parts import Parts
from reference_impl.broker.registrar import Registrar
from reference_impl.mutants.broker import mutant


@mutant("leaves-without-a-word", "A Broker that stops does not unregister.")
def leaves_without_a_word(parts: Parts) -> Parts:
    def stop(self: Registrar, now: int) -> None:
        self.is_stopping = True

    return parts.override("registrar", stop)


@mutant("departure-without-id", "An unregistration has no brokerId.")
def departure_without_id(parts: Parts) -> Parts:
    def departure(self: Announcing) -> Command:
        made = parts.announcing.departure(self)
        ext = {name: text for name, text in (made.ext or {}).items() if name != "brokerId"}
        return msgspec.structs.replace(made, ext=ext)

    return parts.override("announcing", departure)


@mutant("unregisters-from-the-first-only", "Only the first NameServer hears that a Broker goes.")
def unregisters_from_the_first_only(parts: Parts) -> Parts:
    def addresses(self: Registrar) -> Sequence[str]:
        return parts.registrar.addresses(self)[:1]

    return parts.override("registrar", addresses)


@mutant("unregisters-until-one-is-silent", "The next NameServer is told when the one before has answered.")
def unregisters_until_one_is_silent(parts: Parts) -> Parts:
    def stop(self: Registrar, now: int) -> None:
        left = list(self.addresses())
        self.is_stopping = True

        def told(reply: Command | None, now: int) -> None:
            if reply is not None and left:
                self.broker.ask(left.pop(0), self.broker.announcing.departure(), 3_000, told)
            else:
                self._departures = 0

        self._departures = 1
        self.broker.ask(left.pop(0), self.broker.announcing.departure(), 3_000, told)

    return parts.override("registrar", stop)
