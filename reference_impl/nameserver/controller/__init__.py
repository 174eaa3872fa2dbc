"""The controller that may run in a NameServer of 5.x: who of the Brokers of one name is the master.

It has a port of its own, its own connections and its own settings; with the NameServer it shares the process
and the file of settings. It is a group of one: several controllers that agree with each other are not built.
"""

from .config import ControllerConfig
from .core import Controller
from .election import Election
from .heartbeats import Heartbeats
from .masters import RoleChange
from .replicas import Replicas, StoredReplicasError
from .settings import ControllerSettings

__all__ = [
    "Controller",
    "ControllerConfig",
    "ControllerSettings",
    "Election",
    "Heartbeats",
    "Replicas",
    "RoleChange",
    "StoredReplicasError",
]
