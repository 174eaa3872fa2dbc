"""Opaques, one-way flags and fields of requests."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from harness.catalogue import messages, usage
from harness.remarks.judge import Judge
from harness.remarks.stream import Said
from harness.report.text import seconds
from harness.wire.code_names import request_words


class Requests(Judge):
    statements = (
        "requests.opaque-is-free",
        "requests.answer-is-wanted",
        "requests.required-fields-are-there",
    )

    def asked(self, said: Said) -> None:
        command = said.command
        name = request_words(command.code)
        if command.is_oneway:
            if command.code in _asking():
                self.remark(
                    "requests.answer-is-wanted",
                    f"sent {name} one-way, which is sent for what its answer says",
                    said,
                    kind=name,
                )
        elif (before := said.connection.waiting.get(command.opaque)) is not None:
            self.remark(
                "requests.opaque-is-free",
                f"used opaque {command.opaque} again after {seconds(said.now - before.now)}, while "
                f"{request_words(before.command.code)} with that opaque waits for its answer",
                before,
                said,
            )
        lacking = [field for field in _required().get(command.code, ()) if said[field] is None]
        if lacking:
            self.remark(
                "requests.required-fields-are-there",
                f"sent {name} without {', '.join(lacking)}",
                said,
                kind=name,
            )


@functools.cache
def _asking() -> frozenset[int]:
    """Codes of requests whose answer carries something, and that none of Apache's peers sends one-way."""
    return frozenset(
        one.code
        for one in messages().messages
        if not one.sent and (one.response or one.response_body) and not usage().one_way_of(one.role, one.code)
    )


@functools.cache
def _required() -> Mapping[int, frozenset[str]]:
    """The fields without which every server and release line refuses a request, by code."""
    found: dict[int, frozenset[str]] = {}
    for one in messages().messages:
        if not one.sent:
            needed = frozenset(field.name for field in one.request if field.required and not field.profiles)
            found[one.code] = found.get(one.code, needed) & needed
    return found
