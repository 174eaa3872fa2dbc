"""The two NameServers of a Broker differ: one of them is away, silent or refuses, and the other is not."""

from __future__ import annotations

from typing import Literal

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import ENDINGS
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep

_WHICH: tuple[Literal[0, 1], ...] = (0, 1)
_MANNERS: tuple[Literal["down", "silent", "refuses"], ...] = ("down", "silent", "refuses")
_ROUND = 35
"""Seconds within which a Broker registers again."""
_BEHIND = 60
"""The same where it waited for a NameServer that does not answer."""


def loses_a_nameserver(pick: Pick, state: ProgramState) -> Steps:
    """A NameServer is of no use for a while, in which topics come and go, and then does well again."""
    which = pick.one(_WHICH)
    steps: list[AnyStep] = [bk.NameServer(which=which, manner=pick.one(_MANNERS))]
    steps += _news(pick, state)
    if pick.once_in(3):
        steps.append(Restart(how=pick.one(ENDINGS)))
    steps += [Time(seconds=pick.one((5, _BEHIND))), bk.Hear(), *_news(pick, state)]
    return (*steps, bk.NameServer(which=which), Time(seconds=_BEHIND), bk.Hear())


def tells_nameservers(pick: Pick, state: ProgramState) -> Steps:
    """Both NameServers hear of topics that come or go, of a stop and a start, and of each round."""
    steps: list[AnyStep] = _news(pick, state)
    if pick.once_in(3):
        steps.append(Restart(how=pick.one(ENDINGS)))
    return (*steps, bk.Hear(), Time(seconds=_ROUND), bk.Hear())


def tells_its_role(pick: Pick, state: ProgramState) -> Steps:
    """A Broker registers as a slave, and as a master again."""
    steps: list[AnyStep] = [bk.Switch(role="slave"), Time(seconds=_ROUND), bk.Hear()]
    return (*steps, bk.Switch(), Time(seconds=_ROUND), bk.Hear())


def asks_first(pick: Pick, state: ProgramState) -> Steps:
    """A Broker asks its NameServers whether anything has changed: first neither says so, then one of them."""
    one = pick.one(_WHICH)
    steps: list[AnyStep] = [bk.NameServer(which=which, manner="knows") for which in _WHICH]
    steps += [bk.Force(force=False), Time(seconds=_ROUND), bk.Hear(), Time(seconds=_BEHIND), bk.Hear()]
    steps += [bk.NameServer(which=one), *_news(pick, state), Time(seconds=_BEHIND), bk.Hear(), bk.Force()]
    steps += [bk.NameServer(which=which) for which in _WHICH]
    return (*steps, Time(seconds=_ROUND), bk.Hear())


def _news(pick: Pick, state: ProgramState) -> list[AnyStep]:
    """A topic comes into being, or goes, or none does."""
    topic, how = f"T{3 + pick.below(4)}", pick.below(4)
    if how == 0:
        return [bk.MakeTopic(topic=topic, queues=1 + pick.below(6))]
    if how == 1:
        return [bk.Send(message=state.symbol(), topic=topic)]
    return [bk.DropTopic(topic=topic)] if how == 2 and topic in state.topics else []
