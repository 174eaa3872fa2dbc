"""Which requests meet a fault."""

import msgspec

from .request import Request, names_of


class Selector(msgspec.Struct, frozen=True, kw_only=True):
    """What is None selects nothing and leaves nothing out.

    A selector without codes passes over requests that are about neither a topic nor a group: those are
    between servers, or an administrator's.
    """

    codes: frozenset[int] | None = None
    topic: str | None = None
    queue: int | None = None
    group: str | None = None
    client: str | None = None
    server: str | None = None

    def selects(self, request: Request) -> bool:
        """Whether a request meets the fault."""
        if self.codes is None:
            if not (request.topics or request.groups):
                return False
        elif request.command.code not in self.codes:
            return False
        return (
            (self.topic is None or self.topic in request.topics)
            and (self.group is None or self.group in request.groups)
            and (self.queue is None or self.queue == request.queue)
            and (self.client is None or self.client == request.client)
            and (self.server is None or self.server in names_of(request.server))
        )
