"""Running servers: when a new one is started, who shares them, and what is left behind on them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.engine.context import TargetContext
from harness.engine.instances import InstancePool
from harness.engine.kinds import Setting
from harness.engine.nameserver.program_state import ProgramState
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.session import DEFAULT_SETUP, Instance, Setup, Unsupported
from harness.targets import Capabilities, parse
from harness.wire import WireError
from harness.wire.bodies import ClusterInfo as ClusterBody


class Target:
    """The built-in one, as if it cost something to start it."""

    def __init__(self, **changes: Any) -> None:
        capabilities = Capabilities(scheme="exec", starts="soon")
        self._inside = parse("builtin:5.3")
        self.uri, self.line, self.server = "exec:fake", self._inside.line, None
        self.waits_alone = False
        self.capabilities = msgspec.structs.replace(capabilities, **changes)
        self.started = 0

    def start(self) -> Instance:
        self.started += 1
        return self._inside.start()

    def another(self, setup: Setup = DEFAULT_SETUP) -> Instance:
        if not self.capabilities.is_ours:
            raise Unsupported("there is one")
        return self.start()


def servers(**changes: Any) -> tuple[Target, InstancePool]:
    target = Target(**changes)
    return target, InstancePool(target)  # type: ignore[arg-type]


def test_a_server_is_used_again_until_a_fresh_one_is_asked_for() -> None:
    target, running = servers()
    assert running.take()[1]
    assert not running.take()[1], "nobody else has used it: not true any more"
    assert target.started == 1
    assert running.take(fresh=True)[1]
    assert target.started == 2
    assert len(running.take(2)[0]) == 2
    assert target.started == 3
    running.close()
    assert running.take()[1]


def test_a_doubtful_server_is_for_those_only_who_can_do_with_it() -> None:
    target, running = servers()
    running.take()
    running.doubt()
    running.take(sound=False)
    assert target.started == 1
    running.take()
    assert target.started == 2
    running.take()
    assert target.started == 2, "the new one is beyond doubt"


def test_a_server_of_somebody_else_is_never_new() -> None:
    target, running = servers(starts="never")
    running.doubt()
    assert not running.take(fresh=True)[1]
    assert not running.take()[1]
    assert target.started == 1
    with pytest.raises(ValueError, match="exec:fake is not ours to start again"):
        running.take(2)


def test_where_starting_costs_nothing_everybody_has_a_new_one() -> None:
    target, running = servers(starts="at once", warp=0.0)
    assert running.take(2)[1]
    assert running.take(2)[1]
    assert target.started == 4


@pytest.mark.parametrize("waits_alone", [False, True])
def test_kinds_share_servers_where_none_harms_the_other(waits_alone: bool) -> None:
    target, running = servers()
    target.waits_alone = waits_alone
    setting = Setting(target=target, servers=running, profile="5.3", words="1")  # type: ignore[arg-type]
    one, other = setting.context(), setting.context()
    for context in (one, other):
        context.executor(1, Names(chance("kinds")), fresh=False, case="")[0].close()
    assert target.started == (2 if waits_alone else 1)


PROGRAM: tuple[AnyStep, ...] = (
    ns.Register(topics={"T0": (4, 4, 6, 0)}),
    ns.Configure(lines=("orderMessageEnable=true",)),
    ns.Kv(code=100, topic="T0"),
)


@pytest.mark.parametrize("well", [True, False])
def test_a_server_is_left_as_it_was_found(well: bool) -> None:
    """Also where something was wrong: what is made small is tried there again."""
    target, running = servers()
    context = TargetContext(target, "5.3", servers=running)  # type: ignore[arg-type]
    executor, _, _ = context.executor(1, Names(chance("tidy")), fresh=False, case="")
    state = ProgramState("5.3")
    for step in PROGRAM:
        state.apply(step)
        executor.play(step)
    context.leave(executor, state, ended="whole", well=well)
    other, _, _ = context.executor(1, Names(chance("after")), fresh=False, case="", sound=False)
    (cluster,), (topics,) = other.play(ns.ClusterInfo()), other.play(ns.Topics())
    assert b"b0" not in cluster.outcome.command.body  # type: ignore[union-attr]
    assert b"T0" not in topics.outcome.command.body  # type: ignore[union-attr]
    assert target.started == 1
    context.executor(1, Names(chance("others")), fresh=False, case="")
    assert target.started == (1 if well else 2), "others get a new one where something was wrong"


@pytest.mark.parametrize(("ended", "started"), [("died", 2), ("late", 1)])
def test_only_a_dead_server_is_of_no_use_at_all(ended: Any, started: int) -> None:
    target, running = servers()
    context = TargetContext(target, "5.3", servers=running)  # type: ignore[arg-type]
    executor, _, _ = context.executor(1, Names(chance("end")), fresh=False, case="")
    context.leave(executor, ProgramState("5.3"), ended=ended, well=True)
    running.take(sound=False)
    assert target.started == started
    running.take()
    assert target.started == 2


def test_others_get_a_new_server_where_what_is_listed_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Apache 4.9.8, which lists a broker that was registered without a name under null."""

    def refuse(_: bytes) -> ClusterBody:
        raise WireError("the body has null without quotes instead of a name at offset 20")

    target, running = servers()
    context = TargetContext(target, "5.3", servers=running)  # type: ignore[arg-type]
    executor, _, _ = context.executor(1, Names(chance("null")), fresh=False, case="")
    monkeypatch.setattr(ClusterBody, "decode", refuse)
    context.leave(executor, ProgramState("5.3"), ended="whole", well=True)
    running.take()
    assert target.started == 2
