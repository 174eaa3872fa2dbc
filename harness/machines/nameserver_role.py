"""What playing on NameServers needs to know of them (`harness.machines.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness.catalogue import Role as RoleName
from harness.differential.quirks import applying, quirks
from harness.machines.goals import tally
from harness.machines.judge import Judge
from harness.machines.known import Quirks
from harness.machines.picture import Picture
from harness.machines.player import Player
from harness.machines.role import Role
from harness.machines.strategies import look
from harness.machines.tally import Tally
from harness.machines.tidying import tidied
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import Instance, NameServerSession, ProfileName

__all__ = ["NAMESERVER"]


class _NameServer:
    name: RoleName = "nameserver"
    servers = 2

    def session(self, instance: Instance, profile: ProfileName, **said: Any) -> NameServerSession:
        return NameServerSession(instance, profile, **said)

    def picture(self, *, five: bool, servers: int) -> Picture:
        return Picture(five=five, servers=servers)

    def judge(self, profile: ProfileName, names: Names, jitter: Sequence[float], *, fresh: bool) -> Judge:
        return Judge(profile, names, jitter, fresh=fresh)

    def look(self, picture: Picture, *, moment: int) -> list[AnyStep]:
        return look(picture)

    def tidy(self, player: Player, picture: Picture) -> bool:
        return tidied(player, picture)

    def spoils(self, picture: Picture) -> bool:
        """Never: names are not used again."""
        return False

    def tally(self) -> Tally:
        return tally()

    def quirks(self, profile: ProfileName, scheme: str) -> Quirks:
        return Quirks(applying(quirks(), profile, [scheme]))


NAMESERVER: Final[Role] = _NameServer()
