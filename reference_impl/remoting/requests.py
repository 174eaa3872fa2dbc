"""The table of the request codes that a server answers."""

from collections.abc import Callable
from typing import TypeAlias

from harness.wire import Command

from .reply import RefusedError, Reply

Handler: TypeAlias = Callable[[Command, int, int], Reply | None]
"""(command, connection, now) -> reply; None: no answer now; raises RefusedError."""


class RequestTable:
    """A server that has a handler for each code that it knows."""

    handlers: dict[int, Handler]

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        """Carry out a request. None: no answer now, perhaps later, perhaps never."""
        handler = self.handlers.get(command.code)
        if handler is None:
            return self.unknown_request(command)
        try:
            return handler(command, connection, now)
        except RefusedError as refused:
            return refused.reply()

    def unknown_request(self, command: Command) -> Reply | None:
        """The answer to a request code that has no handler; None would be silence."""
        raise NotImplementedError
