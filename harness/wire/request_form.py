"""What a request looks like, whatever its values."""

from __future__ import annotations

from typing import Literal, NamedTuple


class RequestForm(NamedTuple):
    """One request code of the protocol, as `specs/messages/` has it."""

    role: Literal["nameserver", "broker"]
    """The server that serves it, or that sends it where it is ``sent``."""
    sent: bool = False
    read_only: bool = False
    """It changes nothing but leases."""
    fields: tuple[str, ...] = ()
    """Names of its ext fields."""
    request_body: str | None = None
    """Name of a body, or ``properties`` or ``messages``."""
    response_body: str | None = None
