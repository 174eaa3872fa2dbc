"""Sequence diagrams of recorded traffic, and the state diagram of a Broker at its NameServer: a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.catalogue import Catalogue
from harness.catalogue.scenes import Scene
from harness.report.diagram import sequence_diagram
from harness.report.docs_markup import page
from harness.report.docs_messages import PAGES
from harness.trace import Trace

SCENES = "scenes.md"


def scene_page(scenes: Sequence[Scene], traces: Mapping[str, Trace], catalogue: Catalogue) -> dict[str, str]:
    """File name -> Markdown text. A scene without a trace is left out."""
    shown = [(one, traces[one.name]) for one in scenes if one.name in traces]
    statements = {one.id: one for one in catalogue.statements}
    return {SCENES: page("scenes", pages=PAGES, scenes=shown, statements=statements)}


def scene_pictures(scenes: Sequence[Scene], traces: Mapping[str, Trace]) -> dict[str, str]:
    """File name -> SVG."""
    return {
        f"{one.name}.svg": str(sequence_diagram(traces[one.name].events, title=[one.title])).lstrip()
        for one in scenes
        if one.name in traces
    }
