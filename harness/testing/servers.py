"""Servers that go away and come back, and the faults of a `RocketMQ`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from reference_impl.serve import Cluster, Server
from reference_impl.serve.faults import Layers

from .departures import Departures, How
from .faults import Faults

_T = TypeVar("_T")


class Away:
    """A server that is away. The end of the `with` that it is given to brings it back, if it still is."""

    def __init__(self, back: Callable[[], None]) -> None:
        self._back = back

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._back()


class ServerFaults:
    """What `RocketMQ` has of this: its servers and its faults.

    A Broker is named by its own name, "broker-a", or with its id, "broker-a-1", as slaves are. A NameServer
    has a number, from 0. What a server had stored, it has when it is back, at the same port.
    """

    def __init__(self) -> None:
        self.layers = Layers()
        self.fault = Faults(self)
        """Begins faults of requests and answers."""
        self.departures = Departures(self)

    def _call(self, function: Callable[[Cluster], _T]) -> _T:
        raise NotImplementedError

    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, _T]]) -> _T:
        raise NotImplementedError

    def call(self, what: Callable[[], _T]) -> _T:
        """What a function gives that is called in the event loop of the servers."""
        return self._call(lambda _: what())

    def stop_broker(self, name: str) -> Away:
        """A Broker takes its leave: it unregisters from NameServers, and its connections end.

        Finds: producers that do not try another Broker, and a route that is never asked for again.
        """
        return self._away(_broker(name), "stop")

    def kill_broker(self, name: str) -> Away:
        """A Broker is gone at once. NameServers notice that its connection has ended.

        Finds: what `stop_broker` finds, and messages that were taken for sent without an answer.
        """
        return self._away(_broker(name), "kill")

    def pause_broker(self, name: str) -> Away:
        """A Broker accepts connections and requests, and answers nothing, as a process in a long pause.

        Finds: calls without a time-out, and threads that all wait for one Broker.
        """
        return self._away(_broker(name), "pause")

    def start_broker(self, name: str) -> None:
        """A Broker that was stopped, killed or paused is back, and registered with the NameServers."""
        self.departures.come_back(_broker(name))

    def stop_nameserver(self, number: int) -> Away:
        """A NameServer ends.

        Finds: clients that know one NameServer only, and those that cannot go on without any.
        """
        return self._away(_nameserver(number), "stop")

    def pause_nameserver(self, number: int) -> Away:
        """A NameServer accepts connections and requests, and answers nothing.

        Finds: clients that wait for one NameServer where they could ask another.
        """
        return self._away(_nameserver(number), "pause")

    def start_nameserver(self, number: int) -> None:
        """A NameServer that was stopped or paused is back, and Brokers have registered with it."""
        self.departures.come_back(_nameserver(number))

    def bring_back(self) -> None:
        """All servers that are away are back."""
        self.departures.bring_back()

    def _started(self, server: Server[Any]) -> None:
        """A server has started again."""
        self.layers.attach(server.name, server.shell)

    def _away(self, name: str, how: How) -> Away:
        self.departures.leave(name, how)
        return Away(lambda: self.departures.come_back(name))


def _broker(name: str) -> str:
    """The name of the server that a Broker's name means."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r}: expected the name of a Broker, as 'broker-a'")
    return name if name.rpartition("-")[2].isdigit() else f"{name}-0"


def _nameserver(number: int) -> str:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"{number!r}: expected the number of a NameServer, from 0")
    return f"nameserver-{number}"
