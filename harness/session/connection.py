"""A connection as a case sees it.

No waiting and no matching (``link``), no judging (``exchange``); only what a case may
say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from harness.session.errors import Misuse
from harness.session.exchange import Exchange, Request, SentRequest
from harness.session.link import Link
from harness.session.outcome import Answer, Replied
from harness.session.requests import Ext, HeaderFields, command
from harness.session.unsolicited import AwaitedRequest
from harness.wire import FLAG_RESPONSE, FrameBuffer, WireError, encode

if TYPE_CHECKING:
    from harness.session.session import Session


class Connection:
    """One TCP connection to the target (or its equal in process)."""

    def __init__(self, session: Session, link: Link) -> None:
        self._session = session
        self.link = link
        self._begun = b""
        """What was written of a frame that has not ended."""

    @property
    def id(self) -> int:
        """Its number in the trace."""
        return self.link.number

    @property
    def peer(self) -> str:
        """Its own ``ip:port``, which is what the target sees as its peer."""
        return self.link.local

    @property
    def is_open(self) -> bool:
        """Whether no end of it has been seen yet."""
        return self.link.is_open

    @property
    def certificate(self) -> bytes | None:
        """The target's certificate (DER), once something was answered under TLS; None without TLS."""
        return self.link.certificate

    def call(
        self,
        code: int,
        ext: Ext = None,
        body: bytes = b"",
        *,
        about: str = "",
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """Sends one command. The exchange awaits the response with its opaque; see ``Session.call``."""
        return self._session.call(code, ext, body, on=self, about=about, **header)

    def send_raw(self, data: bytes, *, opaque: int | None = None) -> Exchange:
        """Sends bytes as they are. The exchange awaits the next response on this connection, or a close.

        With ``opaque`` it awaits the response that has it: needed where one write holds several requests.
        """
        return Exchange(
            Request(self._session, "raw bytes", lambda: self._raw(data, opaque), repeatable=False)
        )

    def write(self, data: bytes) -> None:
        """Sends bytes that are no request, such as the first half of a frame."""
        self.link.idle = False
        self._session.checked("writing")
        self._begun = _unfinished(self._begun + data)
        self.link.send(data)

    def answer_to(self, opaque: int) -> Exchange:
        """Awaits one more response with ``opaque``: for a second request that was part of a ``send_raw``."""
        subject = f"response with opaque {opaque}"
        return Exchange(Request(self._session, subject, lambda: self._awaiting(opaque), repeatable=False))

    def next_request(self, code: int | None = None) -> Exchange:
        """Awaits the next request (of this code) that the target sends on this connection. To be judged by
        ``Request(…)`` or ``Silence()``.
        """
        return next_request(self._session, [self], code)

    def respond(
        self,
        to: Answer,
        code: int = 0,
        body: bytes = b"",
        *,
        ext: Ext = None,
        remark: str | None = None,
        opaque: int | None = None,
        version: int | None = None,
        language: str = "JAVA",
    ) -> None:
        """Answers a request of the target's: what ``next_request() >> Request(…)`` gave. What is not said is
        as an answer has it: the opaque of the request, its version.
        """
        asked = to.command
        if asked is None:
            raise Misuse("only a request can be answered, and silence is none")
        header: HeaderFields = {"flag": FLAG_RESPONSE, "remark": remark, "language": language}
        answer = command(
            code,
            ext,
            body,
            header,
            opaque=asked.opaque if opaque is None else opaque,
            version=asked.version if version is None else version,
        )
        self.write(encode(answer))

    def pushed(self, code: int | None) -> Replied | None:
        """The next request (of this code) that has come, once; None where none has."""
        self.link.notice()
        return self.link.next_request(self._session.clock.now(), code)

    def next_frame(self) -> Exchange:
        """Awaits one more response, whatever its opaque."""
        return Exchange(Request(self._session, "next frame", lambda: self._awaiting(None), repeatable=False))

    def closes(self) -> Exchange:
        """Awaits that the target closes this connection. To be judged by ``Closed()``."""
        subject = f"connection {self.id}"
        return Exchange(Request(self._session, subject, self._awaiting_close, repeatable=False))

    def close(self) -> None:
        """Closes it in order (FIN)."""
        self.link.close("fin")

    def reset(self) -> None:
        """Aborts it (RST)."""
        self.link.close("reset")

    def half_close(self) -> None:
        """Ends the sending direction only (FIN, and still reading)."""
        self.link.close("half")

    def _raw(self, data: bytes, opaque: int | None) -> SentRequest:
        self.link.idle = False
        self._session.checked("sending raw bytes")
        want = self.link.want(opaque)
        sent_at = self._session.clock.now()
        event = self.link.send(data)
        whole = self._begun + data
        self._begun = _unfinished(whole)
        return SentRequest(self.link, want, None, whole, event, sent_at)

    def _awaiting(self, opaque: int | None) -> SentRequest:
        return SentRequest(self.link, self.link.want_next(opaque), None, b"", None, self._session.clock.now())

    def _awaiting_close(self) -> SentRequest:
        return SentRequest(self.link, None, None, b"", None, self._session.clock.now())


def next_request(session: Session, connections: Sequence[Connection], code: int | None) -> Exchange:
    """Awaits the next request (of this code) on any of these connections."""
    numbers = ", ".join(str(connection.id) for connection in connections)

    def take() -> Replied | None:
        return next((found for one in connections if (found := one.pushed(code)) is not None), None)

    return Exchange(AwaitedRequest(session, f"next request on connection {numbers}", take))


def _unfinished(data: bytes) -> bytes:
    """The part of a frame that these bytes end with; nothing where they are no frames."""
    buffer = FrameBuffer()
    buffer.feed(data)
    try:
        while buffer.next_frame() is not None:
            pass
    except WireError:
        return b""
    return data[len(data) - buffer.pending :]
