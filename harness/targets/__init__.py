"""Systems under test: named by a URI, started, stopped.

Rules of this package: a target knows how to run a server and how its time passes, and nothing of what is
asked of it. Only ``builtin`` imports the reference.
"""

from harness.targets.errors import TargetError
from harness.targets.nature import Nature
from harness.targets.remote import attach
from harness.targets.uri import FORMS, Shareable, Target, parse, spelled_out

__all__ = ["FORMS", "Nature", "Shareable", "Target", "TargetError", "attach", "parse", "spelled_out"]
