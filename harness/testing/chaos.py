"""Faults that a seed draws: the same seed has the same faults for the same requests.

Servers leave at a request, too: it is decided by the request whether it is carried out and answered, and the
server leaves in that turn of its loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from harness.program.chance import chance
from harness.wire import ResponseCode
from reference_impl.serve.faults import (
    WORDS,
    Action,
    Close,
    Cut,
    Delay,
    LoseReply,
    LoseRequest,
    Refuse,
    Repeat,
    Request,
    Reset,
    ReversedRoute,
    Rule,
    Selector,
    Stall,
    StoredBut,
)

from .departures import Absences, How

_LATE: Final = 0.2
_PAUSE: Final = 0.3
_AWAY: Final = (0.1, 0.5, 2.0)
"""Seconds."""


def _busy() -> Action:
    return Refuse(ResponseCode.SYSTEM_BUSY, "refused by chaos")


_ANY: Final[dict[str, Callable[[], Action]]] = {
    f"answered {_LATE:g} s late": lambda: Delay(_LATE),
    "answered, then the connection is closed": Close,
    "carried out, then the connection is reset": Reset,
    "carried out, half of the answer is sent": Cut,
    f"answered after a pause of the server of {_PAUSE:g} s": lambda: Stall(_PAUSE),
}
_CALLS: Final = {**_ANY, "refused, busy": _busy}
_DRAWN: Final[dict[str, dict[str, Callable[[], Action]]]] = {
    "send": {
        **_CALLS,
        "stored, the answer is lost": LoseReply,
        "stored, but the disk is late": lambda: StoredBut(ResponseCode.FLUSH_DISK_TIMEOUT),
        "stored, but the slave is late": lambda: StoredBut(ResponseCode.FLUSH_SLAVE_TIMEOUT),
    },
    "receive": {**_CALLS, "delivered again": Repeat},
    "ack": {**_ANY, "answered and lost": Repeat},
    "commit": {**_ANY, "lost": LoseRequest},
    "retry": _CALLS,
    "transaction": {"lost": LoseRequest},
    "heartbeat": _ANY,
    "lock": _CALLS,
    "route": {**_CALLS, "answered in the reverse order": ReversedRoute},
}
"""By what a client wants: what can happen, and what does it. A lost answer to a pull would hold a client up
for half a minute, and tell no more than a reset does."""

_DEPARTURES: Final[dict[str, tuple[How, type[Action]]]] = {
    "carried out and answered; then the server stops": ("stop", Action),
    "carried out; the server is killed before it answers": ("kill", LoseReply),
    "lost; the server is killed before it is carried out": ("kill", LoseRequest),
    "carried out; the server pauses before it answers": ("pause", Action),
}
"""How the server leaves that got a request, and what becomes of the request."""
_WORD_OF: Final = {code: word for word, codes in WORDS.items() for code in codes}


class Chaos(Rule):
    """Draws by the seed, by what a client wants, and by how often that has been asked.

    `rate` and `servers` are the shares of requests that go wrong, and at which a server leaves. A server that
    leaves gets nothing more: what it made of requests until it is gone would be a matter of time.
    """

    def __init__(
        self,
        seed: int,
        rate: float,
        servers: float,
        selector: Selector,
        times: int | None,
        happened: Callable[[Request, bool, str], None],
        absences: Absences,
    ) -> None:
        super().__init__(Action(), selector, times, self._tell)
        self._seed = seed
        self._rate = rate
        self._servers = servers
        self._happened = happened
        self._absences = absences
        self._asked: Counter[str] = Counter()
        self._repeat = Repeat()
        self._what = ""

    def take(self, request: Request) -> Action | None:
        if self._absences.is_leaving(request.server):
            return LoseRequest()
        return super().take(request)

    def action_for(self, request: Request) -> Action | None:
        word = _WORD_OF.get(request.command.code)
        if word is None:
            return None
        self._asked[word] += 1
        may_repeat = self._repeat.wants(request)
        return self._departure(request, word) or self._fault(word, may_repeat)

    def _departure(self, request: Request, word: str) -> Action | None:
        """What becomes of a request at which its server leaves."""
        drawn = chance(self._seed, "server", word, self._asked[word])
        if drawn.random() >= self._servers:
            return None
        what, seconds = drawn.choice(list(_DEPARTURES)), drawn.choice(_AWAY)
        how, action = _DEPARTURES[what]
        self._absences.begin(request.server, how, seconds)
        self._what = f"{word} {self._asked[word]} is {what}, and is back {seconds:g} s later"
        return action()

    def _fault(self, word: str, may_repeat: bool) -> Action | None:
        drawn = chance(self._seed, word, self._asked[word])
        if drawn.random() >= self._rate:
            return None
        what = drawn.choice(list(_DRAWN[word]))
        action = _DRAWN[word][what]()
        if isinstance(action, Repeat):
            if not may_repeat:
                return None
            action = self._repeat
        self._what = f"{word} {self._asked[word]} is {what}"
        return action

    def _tell(self, request: Request, happens: bool) -> None:
        self._happened(request, happens, self._what if happens else "")
