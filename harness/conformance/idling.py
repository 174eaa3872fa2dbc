"""Servers that no case uses rest: where time runs fast, an idle one works hard.

A server at rest does not run, but its time goes on: what would have happened meanwhile happens when it wakes.
"""

from __future__ import annotations

import threading
from collections import Counter

from harness.session import CanRest, Instance


class Idling:
    """Counts who uses a server. May be used by several threads."""

    def __init__(self) -> None:
        self._users = Counter[int]()
        self._lock = threading.Lock()

    def begin(self, instance: Instance) -> None:
        """Somebody uses the server, which is awake from now on."""
        with self._lock:
            self._users[id(instance)] += 1
            if isinstance(instance, CanRest):
                instance.wake()

    def end(self, instance: Instance) -> None:
        """A use ends; the server rests after its last one."""
        with self._lock:
            self._users[id(instance)] -= 1
            self._rest_unused(instance)

    def wait(self, instance: Instance) -> None:
        """The server has started before its first user has come."""
        with self._lock:
            self._rest_unused(instance)

    def _rest_unused(self, instance: Instance) -> None:
        if not self._users[id(instance)] and isinstance(instance, CanRest):
            instance.rest()
