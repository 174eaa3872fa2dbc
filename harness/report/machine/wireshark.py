"""A dissector for Wireshark: templates in Lua, filled with what the catalogue knows."""

from __future__ import annotations

from typing import Final

from harness.catalogue import Messages
from harness.report.machine.codes import Tables
from harness.report.templating import filled
from harness.wire.framing import FRAME_LIMIT

FILE: Final = "rocketmq_remoting.lua"
PORTS: Final = "9876,10909,10911"
"""Where a NameServer listens, and a Broker: for clients that are in a hurry, and for all. What a Broker sends
to its slaves from 10912 on are no frames.
"""


def render(messages: Messages, tables: Tables) -> str:
    """The text of the file."""
    names = {member.name for one in messages.messages for member in (*one.request, *one.response)}
    answers = {
        one.code: texts
        for one in messages.messages
        if (texts := {code: text for code, text in one.codes.items() if text})
    }
    return str(
        filled(
            "report/templates/machine/dissector.lua.j2",
            file=FILE,
            frame_limit=FRAME_LIMIT,
            ports=PORTS,
            members=[one.name for one in messages.header.members],
            answers=dict(sorted(answers.items())),
            ext_fields=sorted(names),
            **tables,
        )
    )
