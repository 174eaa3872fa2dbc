"""Where programs are played: running servers, how much of what programs there cost may be, and tidying up.

- Servers that are used again are left clean: what a program registered, put or turned is taken back, whatever
  came of it. Where something went wrong, what is left may still not be right: the servers are doubtful.
- What costs real time is rarer there. How much it is rarer follows from the target's capabilities
  alone, never from what was measured: one seed, one sequence of programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.catalogue import Quirk, judged_as, known_quirks
from harness.engine.executor import Executor
from harness.engine.instances import InstancePool
from harness.engine.nameserver.role import NAMESERVER
from harness.engine.role import Role
from harness.findings.deviations import Deviations
from harness.findings.experiment import Ended
from harness.program.names import Names
from harness.session import TargetDied, TooLate
from harness.session.errors import CaseTimeout
from harness.targets import Capabilities, Target

DEADLINE = 120.0
"""Real seconds for a program, what it waits for by itself not counted."""


class TargetContext:
    """A target and its servers. ``started`` is Unix time, for the heads of traces; ``deadline`` is of each
    program (`Executor`); ``role`` is what its servers are; ``quirks`` is that of `--quirks`.

    Stages that are given the same ``servers`` use them in turn.
    """

    def __init__(
        self,
        target: Target,
        profile: str,
        *,
        suite: str = "",
        started: float = 0.0,
        servers: InstancePool | None = None,
        deadline: float = DEADLINE,
        role: Role = NAMESERVER,
        quirks: str = "",
        deviations: Deviations | None = None,
    ) -> None:
        self.role = role
        self.quirks: Sequence[Quirk] = known_quirks(role.name, judged_as(quirks, target.server))
        """Those of the server that the target is known to be, or is judged as."""
        self.target = target
        self.profile: str = profile
        self.deviations = Deviations() if deviations is None else deviations
        """What is known that it does otherwise; more may be learnt while programs are played."""
        self.servers = (
            InstancePool(target, role.setup, others=role.others, needs_setup=role.needs_setup)
            if servers is None
            else servers
        )
        self.known = role.quirks(self.quirks)
        """Those that programs bring about."""
        self._suite = suite
        self._started = started
        self._deadline = deadline

    @property
    def capabilities(self) -> Capabilities:
        """What the target is."""
        return self.target.capabilities

    @property
    def moment(self) -> int:
        """Protocol seconds that a program may let pass at once: not leases, but what comes behind answers."""
        return 60 if self.capabilities.is_virtual else 5

    @property
    def settling(self) -> int:
        """Protocol seconds that a program lets pass before it reads everything back."""
        return 0 if self.capabilities.is_virtual else self.moment

    @property
    def moments_once_in(self) -> int:
        """One program in this many lets moments pass: where time is real, they are most of its cost."""
        return 16 if self.capabilities.clock == "real" else 1

    @property
    def waits_once_in(self) -> int:
        """One program in this many may wait for leases to end: where time is real, that takes minutes."""
        if self.capabilities.is_virtual:
            return 1
        return 16 if self.capabilities.warp > 1 else 200

    @property
    def restarts_once_in(self) -> int:
        """One program in this many restarts a server: a JVM takes seconds to start."""
        return {"at once": 1, "soon": 8, "slowly": 32, "never": 1}[self.capabilities.starts]

    @property
    def rules(self) -> int:
        """How many rules make a program, before everything is read back. A longer program spends a smaller
        share of its time on what it does once.
        """
        return 60 if self.capabilities.starts == "slowly" else 30

    @property
    def judged_together(self) -> int:
        """How many steps are judged together: a whole program where answers are awaited, which was a tenth
        to a quarter faster on a quiet machine.
        """
        return 1 if self.capabilities.is_virtual else 64

    def executor(
        self, servers: int, names: Names, *, fresh: bool, case: str, sound: bool = True
    ) -> tuple[Executor, list[float], bool]:
        """An executor, the jitter of each server, and whether the servers are new; ``fresh`` and ``sound``
        are those of `InstancePool.take`. There are as many servers as the role needs at the least.

        Raises ``TargetError`` where one does not start, ``ValueError`` if there are fewer.
        """
        instances, is_fresh = self.servers.take(
            max(servers, self.role.least_servers), fresh=fresh, sound=sound
        )
        executor = Executor(
            instances,
            self.profile,
            names,
            case=case,
            target=self.target.uri,
            suite=self._suite,
            started=self._started,
            deadline=self._deadline,
            session=self.role.session,
        )
        return executor, [instance.clock.timing.jitter for instance in instances], is_fresh

    def leave(self, executor: Executor, state: Any, *, ended: Ended, well: bool) -> str:
        """Ends a run, which ``ended`` so. ``well``: nothing was seen that may harm others. Returns the last
        words of a server that dies of it; else nothing.
        """
        death = ""
        if not well or ended != "whole":
            self.servers.doubt()
        is_tidy = False
        try:
            is_tidy = ended == "whole" and (self.capabilities.is_virtual or self.role.tidy(executor, state))
            if not is_tidy:
                self.servers.doubt()
        except TargetDied as problem:
            death = str(problem)
        except (TooLate, CaseTimeout):
            self.servers.doubt()
        finally:
            executor.close()
        death = death or executor.death
        has_died = ended == "died" or death
        if self.capabilities.is_ours and (has_died or (not is_tidy and self.role.spoils(state))):
            self.servers.close()
        return death

    def close(self) -> None:
        """Stops what runs. May be called more than once."""
        self.servers.close()
