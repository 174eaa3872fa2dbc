"""Ext fields of a request whose step says where they come from."""

from __future__ import annotations

from harness.program.names import Names
from harness.program.step import Carried, Request


def ext_of(step: Request, names: Names) -> dict[str, str | None]:
    """What `carries` of the step names; fields of the step that are None are left out."""
    found = ((field, _text(step, one, names)) for field, one in step.carries.items())
    return {field: text for field, text in found if text is not None}


def _text(step: Request, one: Carried | str, names: Names) -> str | None:
    if isinstance(one, str):
        return one
    value: object = getattr(step, one.field)
    match value:
        case None | "":
            return None if value is None else ""
        case bool():
            return "true" if value else "false"
        case str() if one.kind == "name":
            return names.name(value)
        case str() if one.kind == "address":
            return names.address(value)
    return str(value)
