"""The classes that a reference NameServer is made of.

Every method of them is a decision that a mutant can replace (`reference_impl/mutants/registry.py` says how),
and their docstrings say what is decided: `help(RouteTable)` lists those of the route table. The classes of
the lines differ (`RouteTable49`, `RouteTable53`); a method of `RouteTable` stands for that of either.
"""

from reference_impl.remoting.parts import Parts
from reference_impl.remoting.profiles import PROFILES

from .controller import Controller, Election, Heartbeats, Replicas
from .core_49 import NameServer49
from .core_53 import NameServer53
from .endpoint import Endpoint
from .kv import KvTable
from .routes_49 import RouteTable49
from .routes_53 import RouteTable53
from .settings import Settings

_SHARED = {"endpoint": Endpoint, "kv": KvTable, "settings": Settings}
_OF_49 = {"nameserver": NameServer49, "routes": RouteTable49, **_SHARED}
_CONTROLLER = {
    "controller": Controller,
    "election": Election,
    "heartbeats": Heartbeats,
    "replicas": Replicas,
}
_OF_5X = {"nameserver": NameServer53, "routes": RouteTable53, **_SHARED, **_CONTROLLER}

PARTS = {name: Parts(line, _OF_5X if line.v5 else _OF_49) for name, line in PROFILES.items()}
"""The reference, by profile."""
