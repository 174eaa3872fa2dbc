"""How much memory a target has, where it is a process of ours.

It reads what the system says of one process, and starts nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.session import Instance
from harness.targets.process import ProcessInstance

_RESIDENT = re.compile(r"^VmRSS:\s*(\d+) kB$", re.MULTILINE)


def resident(instance: Instance) -> int | None:
    """Resident memory in bytes; None where it is not ours to measure, or cannot be (`/proc/PID/status`)."""
    if not isinstance(instance, ProcessInstance):
        return None
    try:
        found = _RESIDENT.search(Path(f"/proc/{instance.pid}/status").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
