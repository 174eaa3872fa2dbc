"""The recorded example of a message, rendered: headers and bodies of request and answer, folded away."""

from __future__ import annotations

import json

from harness.catalogue.examples import Example, ExampleFrame, Examples
from harness.report.hexdump import plain_hexdump
from harness.report.templating import filled

_SHOWN = 60
"""Lines of a body."""


def example_text(code: int, of: Examples) -> str:
    """Markdown; empty where none was recorded."""
    example = of.examples.get(code)
    if example is None:
        return ""
    return str(
        filled(
            "report/templates/docs/example.md.j2",
            release=of.recorded,
            frames=_frames(example),
            one_way=example.response is None,
        )
    )


def _frames(example: Example) -> list[tuple[str, str, str]]:
    """(title, language, text) of each part that there is."""
    parts = []
    for name, frame in (("Request", example.request), ("Answer", example.response)):
        if frame is not None:
            parts.append((f"{name} header", *_pretty(frame.header)))
            parts += [(f"{name} body", *_body(frame))] if frame.body or frame.hex else []
    return parts


def _body(frame: ExampleFrame) -> tuple[str, str]:
    if frame.hex:
        return "text", _cut(plain_hexdump(bytes.fromhex(frame.hex)).rstrip("\n"))
    return _pretty(frame.body)


def _pretty(text: str) -> tuple[str, str]:
    """Strict JSON is laid out; what a strict parser refuses is shown as it was on the wire."""
    try:
        value = json.loads(text)
    except ValueError:
        return "text", _cut(text)
    return "json", _cut(json.dumps(value, ensure_ascii=False, indent=2))


def _cut(text: str) -> str:
    lines = text.splitlines()
    left = len(lines) - _SHOWN
    return "\n".join([*lines[:_SHOWN], f"… and {left} more lines"]) if left > 0 else text
