"""What a handler answers, before it becomes a response frame."""

from typing import Self

import msgspec

from harness.wire import Command, ResponseCode

from .stamp import Stamp


class Reply(msgspec.Struct):
    """The parts of a response that a handler decides. Opaque and flag are the endpoint's."""

    code: int
    body: bytes = b""
    ext: dict[str, str | None] | None = None
    """None: no `extFields`; `{}`: an empty object, where Apache allocates a header class and sets nothing."""
    remark: str | None = None
    repeated: bool = False
    """This very object answers many requests, so that it pays to encode it once. No ext, no remark then."""
    from_handler: bool = True
    """False: made outside of a handler, as for an exception; such a reply never mirrors a serialization."""
    stamp: Stamp | None = None
    """The response to JSON requests once it has been encoded, for a reply that is `repeated`."""
    by: tuple[str | None, int] | None = None
    """Language and version of the peer whose answer goes on; None: the server's own."""

    @classmethod
    def forwarded(cls, answer: Command) -> Self:
        """The answer of another peer, as it is."""
        return cls(answer.code, answer.body, answer.ext, answer.remark, by=(answer.language, answer.version))


class RefusedError(Exception):
    """A request that cannot be carried out: code 1, the remark in plain words, and nothing was changed.

    It stands where Apache's handler throws; Apache's remark is the Java exception, which no client
    may rely on.
    """

    def __init__(self, remark: str) -> None:
        super().__init__(remark)
        self.remark = remark

    def reply(self) -> Reply:
        """The reply that says so."""
        return Reply(ResponseCode.SYSTEM_ERROR, remark=self.remark, from_handler=False)
