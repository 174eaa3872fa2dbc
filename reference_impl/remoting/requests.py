"""Which method of a server answers which request code.

A handler is marked where it is defined: `@answers(RequestCode.GET_MAX_OFFSET)`.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from harness.wire import Command, ResponseCode, WireError

from .errors import DurabilityError
from .profiles import Profile
from .reply import RefusedError, Reply

Handler: TypeAlias = Callable[[Command, int, int], Reply | None]
"""(command, connection, now) -> reply; None: no answer now; raises RefusedError."""

_Marked: TypeAlias = tuple[tuple[str, int, bool, bool], ...]
"""The marked methods of a class: name, code, whether only 5.x knows it, whether only 5.5 does."""

_known: WeakKeyDictionary[type, _Marked] = WeakKeyDictionary()
"""Those of classes that have been looked at: a server has fifty with handlers."""

_log = logging.getLogger(__name__)

_M = TypeVar("_M", bound=Callable[..., Reply | None])


def answers(code: int, *, v5: bool = False, v55: bool = False) -> Callable[[_M], _M]:
    """Mark a method as the handler of a code. `v5`: 4.9 does not know the code; `v55`: nor does 5.3."""

    def mark(method: _M) -> _M:
        vars(method).setdefault("answers", {})[code] = (v5, v55)
        return method

    return mark


def handlers_of(server: object, profile: Profile) -> dict[int, Handler]:
    """The marked methods of an object, by request code."""
    return {
        code: getattr(server, name)
        for name, code, only_v5, only_v55 in _marked(type(server))
        if profile.v55 or (not only_v55 and (profile.v5 or not only_v5))
    }


def _marked(kind: type) -> _Marked:
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = _search(kind)
    return found


def _search(kind: type) -> _Marked:
    return tuple(
        (name, code, *lines)
        for base in kind.__mro__
        for name, method in vars(base).items()
        for code, lines in getattr(method, "answers", {}).items()
    )


def carried_out(
    handlers: Mapping[int, Handler],
    unknown: Callable[[Command], Reply | None],
    command: Command,
    connection: int,
    now: int,
) -> Reply | None:
    """What the handler of a request answers; `unknown` answers a code that has none. None: no answer now,
    perhaps later, perhaps never.

    An exception of the handler is logged and answered (`NettyRemotingAbstract#processRequestCommand`).
    Raises WireError for a frame that ends the connection, and DurabilityError.
    """
    handler = handlers.get(command.code)
    if handler is None:
        return unknown(command)
    try:
        return handler(command, connection, now)
    except RefusedError as refused:
        return refused.reply()
    except (WireError, DurabilityError):
        raise
    except Exception as problem:
        _log.exception("request code %d failed", command.code)
        remark = f"{type(problem).__name__}: {problem}"
        return Reply(ResponseCode.SYSTEM_ERROR, remark=remark, from_handler=False)


class RequestTable:
    """A server that has a handler for each code that it knows."""

    handlers: dict[int, Handler]

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        """Carry out a request, as `carried_out` says."""
        return carried_out(self.handlers, self.unknown_request, command, connection, now)

    def unknown_request(self, command: Command) -> Reply | None:
        """The answer to a request code that has no handler; None would be silence."""
        raise NotImplementedError
