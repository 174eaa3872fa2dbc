"""The NameServers of a Broker that is asked directly.

`Names` holds what they were asked and told, and answers when a test says so.
"""

from __future__ import annotations

from typing import Any

from harness.wire import Command
from harness.wire.bodies import RegisterBody
from reference_impl.broker.outbox import Asking, Telling

from .driver import STARTED, Asked, make_broker

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"


class Names:
    """The NameServers of one Broker."""

    def __init__(self, profile: str, **settings: Any) -> None:
        self.v5 = profile == "5.3"
        self.one: Asked = make_broker(profile, **{"namesrvAddr": f"{ONE};{TWO}", **settings})
        self.broker = self.one.broker
        self.open: list[Asking] = []
        """What was asked and is not answered yet."""
        self.broker.tick(STARTED)

    def at(self, ms: int) -> None:
        """Lets time pass until so many ms after the start."""
        self.one.pass_time(STARTED + ms - self.one.now)

    def asked(self) -> list[Asking]:
        """What was asked since the last look."""
        new = self.one.taken(Asking)
        self.open += new
        return new

    def told(self) -> list[Telling]:
        """What was told since the last look."""
        return self.one.taken(Telling)

    def codes(self) -> list[tuple[str, int]]:
        """(address, code) of what was asked since the last look."""
        return [(one.address, one.command.code) for one in self.asked()]

    def answer(self, address: str, reply: Command | None = Command(code=0)) -> None:  # noqa: B008 - a value
        """Answers the oldest question to an address."""
        self.asked()
        found = next(one for one in self.open if one.address == address)
        self.open.remove(found)
        found.done(reply, self.one.now)

    def answer_all(self) -> None:
        """Answers everything with success, and what comes of that too."""
        while self.asked() or self.open:
            self.answer(self.open[0].address)

    def body(self, command: Command) -> RegisterBody:
        """The body of a registration."""
        compressed = (command.ext or {})["compressed"] == "true"
        return RegisterBody.decode(command.body, compressed=compressed, version=479, v5=self.v5)
