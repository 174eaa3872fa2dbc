"""The classes that a reference Broker is made of.

Every method of them is a decision that a mutant can replace (`reference_impl/mutants/registry.py` says how).
The same classes serve both lines; where these differ, a method asks `self.profile.v5`.
"""

from reference_impl.remoting.parts import Parts
from reference_impl.remoting.profiles import PROFILES

from . import core
from .endpoint import Endpoint
from .store import Store

_CLASSES = {"endpoint": Endpoint, "broker": core.Broker, "store": Store, **core.PARTS}

PARTS = {name: Parts(PROFILES[name], _CLASSES) for name in ("4.9", "5.3", "5.5")}
"""The reference, by profile."""
