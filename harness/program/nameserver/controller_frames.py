"""What requests to a controller carry.

Invariants: pure; ext fields and body are decided by the step and the names.
"""

from __future__ import annotations

import json
from typing import Final

from harness.program.carried import ext_of
from harness.program.names import Names
from harness.program.nameserver.controller_steps import (
    AllowUnclean,
    AlterInSync,
    AnyRequest,
    ApplyId,
    SyncStateData,
)
from harness.program.nameserver.frames import NOBODYS, Content
from harness.wire.bodies import Properties, SyncStateSet

UNCLEAN: Final = "enableElectUncleanMaster"
"""The setting of `AllowUnclean`."""
_LONG: Final = 70_000


def check_code_of(step: ApplyId, names: Names) -> str:
    """What a replica applies with: its address, a semicolon, and which start of it this is."""
    return f"{names.address(step.address)};{step.start}"


def content_of(step: AnyRequest, names: Names) -> Content:
    """What a request carries."""
    ext, body = ext_of(step, names), b""
    match step:
        case ApplyId():
            ext["registerCheckCode"] = check_code_of(step, names)
        case AlterInSync():
            body = SyncStateSet(list(step.ids), step.set_epoch).encode()
        case SyncStateData():
            body = json.dumps([names.name(one) for one in step.brokers]).encode()
        case AllowUnclean():
            body = _settings(step).encode()
    return step.codes[0], ext, body


def _settings(step: AllowUnclean) -> Properties:
    setting = {UNCLEAN: "true" if step.allowed else "false"}
    match step.beside:
        case "":
            return Properties(setting)
        case "long":
            return Properties({NOBODYS: "x" * _LONG, **setting})
    return Properties({step.beside: "/nowhere", **setting})
