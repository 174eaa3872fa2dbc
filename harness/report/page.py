"""The frame of every HTML page of ours: one file that loads nothing, and whose own policy forbids that."""

from __future__ import annotations

import base64
import hashlib

from harness.report.html_assets import STYLE
from harness.report.markup import Child, Markup, element

__all__ = ["document"]


def document(title: str, *body: Child, style: str = "", script: str = "") -> str:
    """The page. ``style`` comes behind the common one; only ``script`` may run."""
    allowed = ""
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        allowed = f" script-src 'sha256-{digest}';"
    policy = f"default-src 'none'; style-src 'unsafe-inline';{allowed} img-src data:"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(STYLE + style)),
    )
    embedded = element("script", Markup(script)) if script else None
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body, embedded), lang='en')}\n"
