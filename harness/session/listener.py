"""What a target sends of its own accord, to an address where a simulated broker listens.

As in ``pushed``. Connections wait in the listener until they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.session.exchange import Exchange
from harness.session.link import Link
from harness.session.outcome import Replied
from harness.session.transport import Listening
from harness.session.unsolicited import AwaitedRequest

if TYPE_CHECKING:
    from harness.session.session import Session


class Listener:
    """An address where a case listens. Made by ``broker.listen()``."""

    def __init__(self, session: Session, listening: Listening) -> None:
        self._session = session
        self._listening = listening
        self._links: list[Link] = []

    @property
    def address(self) -> str:
        """``ip:port``, as a broker would register it."""
        return self._listening.address

    def next_request(self) -> Exchange:
        """Awaits the next request of the target's. To be judged by ``Request(…)`` or ``Silence()``."""
        return Exchange(AwaitedRequest(self._session, f"next request at {self.address}", self._taken))

    def close(self) -> None:
        """Stops listening. May be called more than once."""
        self._listening.close()

    def _taken(self) -> Replied | None:
        while (transport := self._listening.accept()) is not None:
            self._links.append(self._session.adopt(transport))
        for link in self._links:
            link.notice()
            if (request := link.next_request(self._session.clock.now())) is not None:
                return request
        return None
