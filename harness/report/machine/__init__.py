"""The protocol for machines, from the catalogue: tables of codes, JSON Schemas of bodies, a Kaitai Struct
description of the frame, a dissector for Wireshark.

Pure: the same catalogue gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.catalogue import Messages, Profile
from harness.catalogue.usage import Usage
from harness.report.machine import bodies, codes, kaitai, wireshark

FOLDER: Final = "machine"
"""Where the files lie, below the rendered catalogue."""


def render(messages: Messages, profiles: Sequence[Profile], usage: Usage) -> dict[str, str]:
    """File name below `FOLDER` -> text."""
    tables = codes.tables(messages, profiles, usage)
    return {
        **codes.render(tables),
        **bodies.render(messages, profiles),
        kaitai.FILE: kaitai.render(messages),
        wireshark.FILE: wireshark.render(messages, tables),
    }
