"""From steps to bytes: equal names, equal opaques, equal frames.

Invariants: pure; a frame is decided by its step, the names and the opaque.
"""

from __future__ import annotations

from harness.program.broker import steps as bk
from harness.program.broker.frames import content_of as content_for_broker
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.controller_frames import content_of as content_for_controller
from harness.program.nameserver.controller_steps import ControllerRequest
from harness.program.nameserver.frames import code_of as code_for_nameserver
from harness.program.nameserver.frames import content_of as content_for_nameserver
from harness.program.steps import AnyQuestion
from harness.wire import Command, Serialization, encode

_PLACEHOLDERS = Names(chance("nobody"))
"""Names for content of which only the code counts."""


def code_of(step: AnyQuestion) -> int:
    """The request code of a step."""
    if isinstance(step, bk.BrokerRequest):
        return content_for_broker(step, _PLACEHOLDERS, 0)[0]
    if isinstance(step, ControllerRequest):
        return step.codes[0]
    return code_for_nameserver(step)


def frame_of(step: AnyQuestion, names: Names, opaque: int, announces: int) -> bytes:
    """The frame of a request; ``announces`` is the version where the step names none."""
    return encode(command_of(step, names, opaque, announces))


def command_of(step: AnyQuestion, names: Names, opaque: int, announces: int) -> Command:
    """The same before it is encoded."""
    code, ext, body = _content(step, names, announces)
    for field in step.drop:
        ext.pop(field, None)
    return Command(
        code=int(code),
        opaque=opaque,
        flag=2 if step.oneway else 0,
        version=announces if step.announces is None else step.announces,
        ext=ext,
        body=body,
        serialization=Serialization.ROCKETMQ if step.binary else Serialization.JSON,
    )


def _content(step: AnyQuestion, names: Names, announces: int) -> tuple[int, dict[str, str | None], bytes]:
    if isinstance(step, bk.BrokerRequest):
        return content_for_broker(step, names, announces)
    if isinstance(step, ControllerRequest):
        return content_for_controller(step, names)
    return content_for_nameserver(step, names, announces)
