"""`--kind controller`: programs of single steps for the controller of a NameServer.

It is a kind of its own, beside `stateful`: its servers have other settings, its requests go to another port,
and many targets have no controller; the programs of the other kinds are as they would be without it.
"""

from __future__ import annotations

from harness.engine.context import TargetContext
from harness.engine.controller.role import CONTROLLER
from harness.engine.stateful import StatefulExperiment, StatefulKind
from harness.program.nameserver.controller_steps import NextId
from harness.session import Unsupported
from harness.spec.nameserver.served import serves


class ControllerExperiment(StatefulExperiment):
    """Plays given programs on a controller and judges each observation."""

    kind = "controller"


class ControllerKind(StatefulKind):
    """Programs that the rules of controllers make, against a target."""

    name = "controller"
    plays = ControllerExperiment


def refuse_without_controller(context: TargetContext) -> None:
    """Raises ``Unsupported`` with the reason where a target has no controller that can be played on."""
    if not serves(NextId, context.profile):
        raise Unsupported(f"servers of profile {context.profile} have no controller")
    instances, _ = context.servers.take()
    with CONTROLLER.session(instances[0], context.profile) as session:
        session.connect()
