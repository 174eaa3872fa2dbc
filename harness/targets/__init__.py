"""Systems under test: named by a URI, started, stopped.

A target knows how to run a server and how its time passes, and nothing of what is
asked of it. Only ``builtin`` imports the reference.
"""

from harness.targets.capabilities import Capabilities
from harness.targets.errors import TargetError
from harness.targets.process import LOGS
from harness.targets.remote import attach
from harness.targets.uri import Shareable, Target, forms, parse, spelled_out

__all__ = [
    "LOGS",
    "Capabilities",
    "Shareable",
    "Target",
    "TargetError",
    "attach",
    "forms",
    "parse",
    "spelled_out",
]
