"""Which request codes a server knows, as it says itself and as the catalogue says."""

from __future__ import annotations

import time
from collections.abc import Iterator

from harness.catalogue import Role, messages
from harness.catalogue.codes import request_codes
from harness.report.docs_codes import KNOWN, does
from harness.session import Instance, Transport, TransportTimeout
from harness.wire import Command, FrameBuffer, ResponseCode, decode, encode

WITHIN = 10.0
"""Seconds in which every code is answered, if at all."""


def served(role: Role, line: str) -> set[int]:
    """The codes that servers of a release line know, with or without the service behind them."""
    of_line = [one for one in messages().messages if not one.profiles or line in one.profiles]
    return {one.code for one in of_line if does(one, role) in KNOWN}


def known_to(instance: Instance) -> set[int]:
    """The codes that a server answers with anything but that it does not know them; asked without fields."""
    asked = [(code, instance.open()) for code in request_codes().codes]
    for code, transport in asked:
        transport.send(encode(Command(code, ext={})))
    end = time.monotonic() + WITHIN
    try:
        return {
            code
            for code, transport in asked
            for answer in _answers(transport, end)
            if answer.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        }
    finally:
        for _, transport in asked:
            transport.close("fin")


def _answers(transport: Transport, end: float) -> Iterator[Command]:
    """The first frame that comes, if one does."""
    buffer = FrameBuffer()
    try:
        while (frame := buffer.next_frame()) is None:
            buffer.feed(transport.receive(max(0.0, end - time.monotonic())))
    except TransportTimeout:
        return
    yield decode(frame)
