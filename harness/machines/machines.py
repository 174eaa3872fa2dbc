"""The machine of each role."""

from __future__ import annotations

from harness.catalogue import Role as RoleName
from harness.machines.broker.machine import BrokerMachine
from harness.machines.machine import Machine
from harness.machines.nameserver import NameServerMachine

__all__ = ["MACHINES"]

MACHINES: dict[RoleName, type[Machine]] = {"nameserver": NameServerMachine, "broker": BrokerMachine}
