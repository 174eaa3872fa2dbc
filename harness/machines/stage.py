"""Where programs are played: running servers, how much of what programs there cost may be, and tidying up.

Rules of this module:
- Servers that are used again are left clean: what a program registered, put or turned is taken back, whatever
  came of it. Where something went wrong, what is left may still not be right: the servers are doubtful.
- What costs real time is rarer there. How much it is rarer follows from the target's nature alone, never from
  what was measured: one seed, one sequence of programs.
"""

from __future__ import annotations

from typing import Any

from harness.findings.experiment import Ended
from harness.machines.nameserver_role import NAMESERVER
from harness.machines.player import Player
from harness.machines.role import Role
from harness.machines.servers import Servers
from harness.program.frames import Names
from harness.session import ProfileName, TargetDied, TooLate
from harness.session.errors import CaseTimeout
from harness.targets import Nature, Target

__all__ = ["Stage"]

_DEADLINE = 120.0
"""Real seconds for a program, what it waits for by itself not counted."""


class Stage:
    """A target and its servers. ``started`` is Unix time, for the heads of traces; ``deadline`` is of each
    program (`Player`); ``role`` is what its servers are.

    Stages that are given the same ``servers`` use them in turn.
    """

    def __init__(
        self,
        target: Target,
        profile: ProfileName,
        *,
        suite: str = "",
        started: float = 0.0,
        servers: Servers | None = None,
        deadline: float = _DEADLINE,
        role: Role = NAMESERVER,
    ) -> None:
        self.role = role
        self.target = target
        self.profile: ProfileName = profile
        self.servers = Servers(target) if servers is None else servers
        self._suite = suite
        self._started = started
        self._deadline = deadline

    @property
    def nature(self) -> Nature:
        """What the target is."""
        return self.target.nature

    @property
    def moment(self) -> int:
        """Protocol seconds that a program may let pass at once: not leases, but what comes behind answers."""
        return 60 if self.nature.is_virtual else 5

    @property
    def moments_once_in(self) -> int:
        """In one of so many programs moments pass at all: where time is real they are most of what a program
        takes.
        """
        return 16 if self.nature.clock == "real" else 1

    @property
    def waits_once_in(self) -> int:
        """In one of so many programs leases may end: where time is real that takes minutes."""
        if self.nature.is_virtual:
            return 1
        return 16 if self.nature.warp > 1 else 200

    @property
    def restarts_once_in(self) -> int:
        """In one of so many programs a server is started again: a Java machine takes seconds for it."""
        return {"at once": 1, "soon": 8, "slowly": 32, "never": 1}[self.nature.starts]

    @property
    def rules(self) -> int:
        """So many rules make a program, before it looks at everything: the longer, the less of the time goes
        into what comes once in a program.
        """
        return 60 if self.nature.starts == "slowly" else 30

    @property
    def judged_together(self) -> int:
        """So many steps are judged together: a program's worth where answers are waited for, which was
        faster by a tenth to a quarter on a quiet machine.
        """
        return 1 if self.nature.is_virtual else 64

    def player(
        self, servers: int, names: Names, *, fresh: bool, case: str, sound: bool = True
    ) -> tuple[Player, list[float], bool]:
        """A player, the jitter of each server, and whether the servers are new; ``fresh`` and ``sound`` are
        those of `Servers.take`.

        Raises ``TargetError`` where one does not start, ``ValueError`` where there are not so many.
        """
        instances, is_fresh = self.servers.take(servers, fresh=fresh, sound=sound)
        player = Player(
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
        return player, [instance.clock.timing.jitter for instance in instances], is_fresh

    def leave(self, player: Player, picture: Any, *, ended: Ended, well: bool) -> None:
        """Ends a performance, which ``ended`` so. ``well``: nothing was seen that may harm others."""
        if not well or ended != "whole":
            self.servers.doubt()
        is_tidy = False
        try:
            is_tidy = ended == "whole" and (self.nature.is_virtual or self.role.tidy(player, picture))
            if not is_tidy:
                self.servers.doubt()
        except TargetDied:
            ended = "died"
        except (TooLate, CaseTimeout):
            self.servers.doubt()
        finally:
            player.close()
        if self.nature.is_ours and (ended == "died" or (not is_tidy and self.role.spoils(picture))):
            self.servers.close()

    def close(self) -> None:
        """Stops what runs. May be called more than once."""
        self.servers.close()
