"""The one Jinja environment: every page of ours is a template file, filled here.

Templates lie beside the code that fills them (`*/templates/`). Names are paths below `harness`, so that one
template can extend or include another. Everything but Markdown and Lua is escaped; undefined values and None
are errors.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from harness.report import cause_words, md, text

if TYPE_CHECKING:
    import jinja2

_PACKAGE = Path(__file__).parents[1]


def filled(template: str, /, **values: object) -> Markup:
    """The template, filled: ``filled("report/templates/badge.svg.j2", left="RocketMQ")``."""
    return Markup(_environment().get_template(template).render(values))


def filled_markdown(template: str, /, **values: object) -> str:
    """The template of a Markdown document, filled, without runs of blank lines."""
    return re.sub(r"\n{3,}", "\n\n", str(filled(template, **values))).strip("\n") + "\n"


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2  # most commands write no page

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PACKAGE),
        autoescape=lambda name: name is None or not name.endswith((".md.j2", ".lua.j2")),
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        anchor=md.anchor,
        chapter=md.chapter,
        code=md.code,
        count=lambda number: f"{number:,}",
        counted=text.counted,
        digest=_digest,
        escaped=lambda value: escape(value, quote=False),
        holds_back=cause_words.holds_back,
        in_table=md.in_table,
        fixed=text.fixed,
        issue=md.issue,
        issue_link=text.issue_link,
        lua=lambda value: json.dumps(value, ensure_ascii=False),
        not_again=text.not_again,
        one_line=md.one_line,
        plain=md.plain,
        plural=text.plural,
        seconds=text.seconds,
        sent=cause_words.sent_text,
        deed=cause_words.deed_text,
        request_line=cause_words.request_line,
        deed_lines=cause_words.deed_lines,
        shortened=text.shortened,
        source_line=text.source_line,
        source_link=md.source_link,
        span=md.span,
    )
    environment.globals.update(signs=text.SIGNS)
    return environment


def _shown(value: object) -> object:
    """What becomes of each value in a page: control characters are made visible, None is refused."""
    if value is None:
        raise TypeError("None in a page: its template must say what stands there instead")
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.visible(value, keep_lines=True)
    return value


def _digest(script: str) -> str:
    """What a Content-Security-Policy names a script by."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
