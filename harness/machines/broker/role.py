"""What playing on Brokers needs to know of them (`harness.machines.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from harness.catalogue import Role as RoleName
from harness.machines.broker.goals import tally
from harness.machines.broker.judge import BrokerJudge
from harness.machines.broker.picture import Picture
from harness.machines.broker.strategies import look
from harness.machines.player import Player
from harness.machines.role import Role
from harness.machines.tally import Tally
from harness.model import Answered
from harness.program.broker_steps import DropTopic, End, Switch
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import BrokerInstance, BrokerSession, ProfileName

__all__ = ["BROKER"]


class _Quirk(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    statements: tuple[str, ...]
    passing: bool = False
    taints: str = "nothing"


_AGAIN = _Quirk(id="quirk.second-commit-delivers-again", statements=("bk.transaction.commits-once",))
_BEHIND = _Quirk(
    id="quirk.commit-behind-roll-back-delivers",
    statements=("bk.transaction.rolled-back-stays-so", "bk.transaction.rolled-back-is-never-seen"),
)


class _Quirks:
    """Those of Apache's Broker (`specs/targets/apache-broker.yaml`) that a program can come across."""

    def __init__(self, *, apply: bool) -> None:
        self._apply = apply

    def __bool__(self) -> bool:
        return self._apply

    def about(self, step: AnyStep, picture: Picture) -> list[_Quirk]:
        """A transaction that has ended is committed."""
        if not self._apply or not isinstance(step, End) or step.verdict != 8:
            return []
        verdicts = picture.verdicts.get(step.message, [])
        found = [_AGAIN] if 8 in verdicts else []
        return found + ([_BEHIND] if 12 in verdicts else [])


class _Broker:
    name: RoleName = "broker"
    servers = 1

    def session(self, instance: BrokerInstance, profile: ProfileName, **said: Any) -> BrokerSession:
        """What it tells its NameServers is of no interest to programs."""
        return BrokerSession(instance, profile, hears=False, **said)

    def picture(self, *, five: bool, servers: int) -> Picture:
        return Picture(five=five)

    def judge(
        self, profile: ProfileName, names: Names, jitter: Sequence[float], *, fresh: bool
    ) -> BrokerJudge:
        return BrokerJudge(profile, names, jitter)

    def look(self, picture: Picture, *, moment: int) -> list[AnyStep]:
        return look(picture, moment=moment)

    def tidy(self, player: Player, picture: Picture) -> bool:
        """Makes the Broker a master again, and deletes the topics of a program."""
        player.finish()
        if picture.switched:
            outcomes = [one.outcome for one in player.play(Switch(conn="tidy"))[-1:]]
            if not any(isinstance(one, Answered) and one.command.code == 0 for one in outcomes):
                return False
        for topic in (*picture.topics, *(f"%RETRY%{group}" for group in picture.returned)):
            seen = player.play(DropTopic(conn="tidy", topic=topic))[-1:]
            if not all(isinstance(one.outcome, Answered) for one in seen):
                return False
        return True

    def spoils(self, picture: Picture) -> bool:
        """A Broker that is left as a slave is of no use to the next program."""
        return picture.switched

    def tally(self) -> Tally:
        return tally()

    def quirks(self, profile: ProfileName, scheme: str) -> _Quirks:
        return _Quirks(apply=scheme in ("apache", "docker"))


BROKER: Final[Role] = _Broker()
