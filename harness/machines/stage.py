"""Where programs are played: a target, its running instances, and their tidying up.

Rules of this module:
- Where starting costs nothing (`builtin:`) each program has servers of its own. Elsewhere they are shared by
  programs, one after the other, and left clean: what a program registered, put or turned is taken back.
- Whatever is started is stopped by `close`. A server that is somebody else's is neither started nor stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.machines.picture import Picture, usual
from harness.machines.player import Player
from harness.model import Answered
from harness.program.frames import Names
from harness.program.steps import (
    AnyStep,
    ClusterInfo,
    Configure,
    DeleteTopic,
    Kv,
    Unregister,
)
from harness.session import Instance, ProfileName, TargetDied, TooLate, Unsupported
from harness.session.errors import CaseTimeout
from harness.targets import Target
from harness.wire.bodies import ClusterInfo as ClusterBody

__all__ = ["Stage"]

_DEADLINE = 120.0
"""Real seconds for a program, what it waits for by itself not counted."""


class Stage:
    """A target and its running servers. ``started`` is Unix time, for the heads of traces."""

    def __init__(
        self, target: Target, profile: ProfileName, *, suite: str = "", started: float = 0.0
    ) -> None:
        self.target = target
        self.profile: ProfileName = profile
        self._suite = suite
        self._started = started
        self._running: list[Instance] = []
        self._is_fresh = False

    @property
    def is_virtual(self) -> bool:
        """Whether time is virtual and servers cost nothing."""
        return self.target.uri.startswith("builtin:")

    @property
    def is_ours(self) -> bool:
        """Whether it can be started again."""
        return not self.target.uri.startswith("tcp:")

    @property
    def moment(self) -> int:
        """Protocol seconds that may pass at once in any program."""
        if self.is_virtual:
            return 60
        return 5 if "warp=" in self.target.uri else 1

    @property
    def waits_once_in(self) -> int:
        """In one of so many programs leases may end: where time is real that takes minutes."""
        if self.is_virtual:
            return 1
        return 16 if "warp=" in self.target.uri else 200

    @property
    def restarts_once_in(self) -> int:
        """In one of so many programs a server is started again: a Java machine takes seconds for it."""
        if self.is_virtual:
            return 1
        return 32 if self._is_slow_to_start else 4

    @property
    def rules(self) -> int:
        """So many rules make a program, before it looks at everything: the longer, the less of the time goes
        into what comes once in a program.
        """
        return 60 if self._is_slow_to_start else 30

    @property
    def _is_slow_to_start(self) -> bool:
        return self.target.uri.startswith(("apache:", "docker:"))

    def player(
        self, servers: int, names: Names, *, fresh: bool, case: str
    ) -> tuple[Player, list[float], bool]:
        """A player, the jitter of each server, and whether the servers are new.

        Raises ``TargetError`` where one does not start, ``ValueError`` where there are not so many.
        """
        if self.is_virtual:
            instances: Sequence[Instance] = [self.target.another() for _ in range(servers)]
            is_fresh = True
        else:
            if fresh and self.is_ours:
                self.close()
            instances, is_fresh = self._running_ones(servers), self._is_fresh
            self._is_fresh = False
        player = Player(
            instances,
            self.profile,
            names,
            case=case,
            target=self.target.uri,
            suite=self._suite,
            started=self._started,
            deadline=_DEADLINE,
        )
        return player, [instance.clock.timing.jitter for instance in instances], is_fresh

    def instance(self) -> Instance:
        """The first of the servers that run, started if none does. Raises ``TargetError``."""
        return self._running_ones(1)[0]

    def leave(self, player: Player, picture: Picture, *, well: bool) -> None:
        """Ends a performance. ``well``: it went as it should; else servers of ours are started anew."""
        try:
            if self.is_virtual:
                return
            if well or not self.is_ours:
                self._tidy(player, picture)
        except (TargetDied, TooLate, CaseTimeout):
            well = False
        finally:
            player.close()
        if not well and self.is_ours:
            self.close()

    def close(self) -> None:
        """Stops what runs. May be called more than once."""
        running, self._running = self._running, []
        for instance in running:
            instance.stop()

    def output(self) -> str:
        """The end of what the servers wrote."""
        return "\n".join(instance.output() for instance in self._running)

    def _running_ones(self, servers: int) -> list[Instance]:
        if not self._running:
            self._running.append(self.target.start())
            self._is_fresh = self.is_ours
        while len(self._running) < servers:
            try:
                self._running.append(self.target.another())
            except Unsupported as problem:
                raise ValueError(
                    f"expected {servers} servers, got one: {self.target.uri} is not ours to start again; "
                    "name a target that is, such as exec:"
                ) from problem
        return self._running[:servers]

    def _tidy(self, player: Player, picture: Picture) -> None:
        player.finish()
        for step in _undoing(picture):
            player.play(step)
        for server in range(picture.servers):
            (seen,) = player.play(ClusterInfo(server=server, conn="tidy"))[-1:]
            if isinstance(seen.outcome, Answered) and seen.outcome.command.code == 0:
                for step in _leftovers(seen.outcome.command.body, player.names, server):
                    player.play(step)
            for at, topic in picture.topics:
                if at == server:
                    player.play(DeleteTopic(server=server, conn="tidy", topic=topic))


def _undoing(picture: Picture) -> list[AnyStep]:
    steps: list[AnyStep] = [
        Configure(server=server, conn="tidy", lines=(f"{key}={usual(key)}",))
        for server, key in picture.settings()
    ]
    steps += [
        Kv(server=server, conn="tidy", code=102, namespace=namespace, key=key, topic=topic)
        for server, namespace, key, topic in picture.pairs
    ]
    return steps


def _leftovers(body: bytes, names: Names, server: int) -> list[Unregister]:
    """Unregistrations of everything of ours that a server lists."""
    return [
        Unregister(
            server=server,
            conn="tidy",
            cluster=names.symbols(broker.cluster or ""),
            broker=names.symbols(name),
            address=names.symbols(address),
            id=number,
        )
        for name, broker in ClusterBody.decode(body).broker_addr_table.items()
        if names.is_ours(name)
        for number, address in broker.broker_addrs.items()
    ]
