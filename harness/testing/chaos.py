"""Faults that a seed draws: the same seed has the same faults for the same requests."""

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

_LATE: Final = 0.2
_PAUSE: Final = 0.3
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

_WORD_OF: Final = {code: word for word, codes in WORDS.items() for code in codes}


class Chaos(Rule):
    """Draws by the seed, by what a client wants, and by how often that has been asked."""

    def __init__(
        self,
        seed: int,
        rate: float,
        selector: Selector,
        times: int | None,
        happened: Callable[[Request, bool, str], None],
    ) -> None:
        super().__init__(Action(), selector, times, self._tell)
        self._seed = seed
        self._rate = rate
        self._happened = happened
        self._asked: Counter[str] = Counter()
        self._repeat = Repeat()
        self._what = ""

    def action_for(self, request: Request) -> Action | None:
        word = _WORD_OF.get(request.command.code)
        if word is None:
            return None
        self._asked[word] += 1
        may_repeat = self._repeat.wants(request)
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
