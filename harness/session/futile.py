"""Waits of a run that were in vain, so that the same is not waited for in full again.

A server that leaves a code unanswered leaves it unanswered in every case. After ``TIMES`` full waits for the
same kind of thing, all in vain, later ones are short (``Timing.brief``). One alone may have been a moment in
which the machine was slow. Whatever comes after all, late or in another case, makes the next wait a full one.

Of a code that has never been answered it does not matter what is asked with it. Where several such codes are
known, the server is silent on what it does not know: one full wait is enough for the next one, and none where
there are many.
"""

from __future__ import annotations

import threading

from harness.session.exchange import SentRequest
from harness.session.link import Link
from harness.wire import Command, FrameBuffer, WireError, decode

TIMES = 2
_SEVERAL, _MANY = 2, 4
"""Codes that are left unanswered, by which a server is known to be silent on what it does not know."""
HANDSHAKE = "a TLS handshake"
REST = "the rest of a frame"
_TLS = b"\x16\x03"
_PROXY_HEADER = b"\r\n\r\n\0\r\nQUIT\n"


class FutileWaits:
    """Which kinds of waits were in vain. May be used by several threads."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._of_codes: dict[int, int] = {}
        """The same of all that was asked with a code, as long as none of it was answered."""
        self._answered: set[int] = set()
        self._met: set[str] = set()
        self._lock = threading.Lock()

    def is_known(self, kind: str, code: int | None = None) -> bool:
        """Whether a full wait for this, be it the answer to a ``code``, would be in vain, as far as is
        known.
        """
        with self._lock:
            return self._times.get(kind, 0) >= TIMES or (code is not None and self._is_silent_on(code))

    def has_come(self, kind: str) -> bool:
        """Whether it has come in some case of the run."""
        return kind in self._met

    def _is_silent_on(self, code: int) -> bool:
        if code in self._answered:
            return False
        others = [times for one, times in self._of_codes.items() if one != code]
        if len(others) >= _MANY:
            return True
        enough = 1 if sum(times >= TIMES for times in others) >= _SEVERAL else TIMES
        return self._of_codes.get(code, 0) >= enough

    def was_in_vain(self, kind: str, code: int | None = None, times: int = 1) -> None:
        """A full wait for this has ended without it; it counts as so many ``times``."""
        with self._lock:
            self._times[kind] = self._times.get(kind, 0) + times
            if code is not None and code not in self._answered:
                self._of_codes[code] = self._of_codes.get(code, 0) + times

    def was_met(self, kind: str, code: int | None = None) -> None:
        """It has come."""
        with self._lock:
            self._times.pop(kind, None)
            self._met.add(kind)
            if code is not None:
                self._answered.add(code)
                self._of_codes.pop(code, None)


def kind_of_wait(asked: SentRequest, link: Link) -> str:
    """What is waited for, alike wherever a server would treat it alike.

    That is the answer to a request with this code, these fields and a body or none; or what follows on bytes
    of some protocol before the first frame, or on bytes that are no frame.
    """
    if before := _before_frames(link):
        return f"what follows on {before}"
    if asked.want is None:
        return f"the end of a connection that {link.state}"
    command = asked.request or _command_in(asked.sent)
    if command is None:
        return "what follows on bytes that are no frame"
    fields = ", ".join(sorted(command.ext or ()))
    body = "a body" if command.body else "no body"
    return f"an answer to {command.serialization} {command.code} ({fields}), flag {command.flag}, {body}"


def code_of_wait(asked: SentRequest, link: Link) -> int | None:
    """The code that is to be answered, of a request in order and on a connection in order."""
    is_plain = asked.want is not None and not _before_frames(link) and asked.request is not None
    return asked.request.code if is_plain and asked.request is not None else None


def _before_frames(link: Link) -> str:
    if link.opening.startswith(_TLS):
        return "bytes like those of TLS"
    if link.opening.startswith(b"PROXY"):
        return "a PROXY line"
    if link.opening.startswith(_PROXY_HEADER):
        return "a PROXY header"
    return f"{HANDSHAKE} that does not end" if link.lacks_tls else ""


def _command_in(data: bytes) -> Command | None:
    """The first command in the bytes; None where they begin with none."""
    buffer = FrameBuffer()
    buffer.feed(data)
    try:
        frame = buffer.next_frame()
        return None if frame is None else decode(frame)
    except WireError:
        return None
