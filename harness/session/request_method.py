"""Requests as data: a method of a session for each request whose arguments are its ext fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, overload

from harness.session.connection import Connection
from harness.session.errors import Misuse
from harness.session.exchange import Exchange
from harness.session.requests import HeaderFields
from harness.session.session import Session
from harness.wire import RequestCode
from harness.wire.requests import REQUESTS

E = TypeVar("E", bound=Exchange)
Value = str | int | bool | None
_NEEDED = object()
"""Stands for the default of an argument that has none."""


class RequestMethod(Generic[E]):
    """One request, as a method that a class of a session has::

        max_offset = RequestMethod(
            NumberExchange, RequestCode.GET_MAX_OFFSET,
            topic="topic", queue=("queueId", 0),
        )

    Each argument names its ext field, or its field and its default; an argument that is None is left out.
    ``always`` are fields that clients always send so. Reports call it by its code, its name and its
    arguments. All requests take ``on`` (the connection), ``ext`` (fields to add or to replace) and the
    members of a header.
    """

    def __init__(
        self,
        exchange: type[E],
        code: RequestCode,
        always: Mapping[str, Value] | None = None,
        **arguments: str | tuple[str, Value],
    ) -> None:
        self._exchange, self.code, self._always = exchange, code, always or {}
        self._fields = {name: one if isinstance(one, str) else one[0] for name, one in arguments.items()}
        self._defaults: dict[str, Any] = {
            name: _NEEDED if isinstance(one, str) else one[1] for name, one in arguments.items()
        }
        unknown = {*self._fields.values(), *self._always} - set(REQUESTS[code].fields)
        if unknown:
            raise Misuse(f"{code.name} ({code}) has no field {', '.join(sorted(unknown))}")
        self.__doc__ = f"{code.name} ({code}): {', '.join(self._fields) or 'no fields'}."

    def __set_name__(self, owner: type[Session], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, session: None, owner: type[Session]) -> RequestMethod[E]: ...
    @overload
    def __get__(self, session: Session, owner: type[Session]) -> _Bound[E]: ...
    def __get__(self, session: Session | None, owner: type[Session]) -> RequestMethod[E] | _Bound[E]:
        return self if session is None else _Bound(self, session)

    def ask(
        self,
        session: Session,
        values: tuple[Value, ...],
        named: dict[str, Any],
        on: Connection | None,
        ext: Mapping[str, Value] | None,
    ) -> E:
        """Sends the request; what of ``named`` is no argument is a member of the header."""
        given = {**self._defaults, **dict(zip(self._fields, values, strict=False))}
        given |= {name: named.pop(name) for name in self._fields if name in named}
        is_whole = _NEEDED not in given.values() and len(values) <= len(self._fields)
        if not is_whole or not named.keys() <= HeaderFields.__annotations__.keys():
            takes = ", ".join((*self._fields, "on", "ext", "the header"))
            raise Misuse(f"{self._name} takes {takes}")
        sent: dict[str, Value] = {
            self._fields[name]: value for name, value in given.items() if value is not None
        }
        whole = {**sent, **self._always, **(ext or {})} if self._fields or ext else None
        header: HeaderFields = named  # type: ignore[assignment]  # its names were compared just now
        request = session.request(self.code, whole, b"", on, self._about(given), header)
        request.is_ordinary = not (ext or named)
        return self._exchange(request)

    def _about(self, given: Mapping[str, Any]) -> str:
        """The arguments that it needs, and those that it was given with their names."""
        needed = [str(given[name]) for name, default in self._defaults.items() if default is _NEEDED]
        others = [
            f"{name} {given[name]}"
            for name, default in self._defaults.items()
            if default is not _NEEDED and given[name] is not None
        ]
        return ", ".join((*needed, *others))


class _Bound(Generic[E]):
    """A request of a session, to be called."""

    def __init__(self, method: RequestMethod[E], session: Session) -> None:
        self._method = method
        self._session = session

    def __call__(
        self,
        *values: Value,
        on: Connection | None = None,
        ext: Mapping[str, Value] | None = None,
        **named: Any,
    ) -> E:
        return self._method.ask(self._session, values, named, on, ext)
