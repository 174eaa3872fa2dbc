"""`specs/scenes.yaml`: every scene is recorded, of a statement that there is, and drawn."""

from __future__ import annotations

import pytest

from harness.catalogue import catalogue
from harness.catalogue.scenes import Scene, scenes
from harness.cli import example_recording
from harness.report.docs_scenes import SCENES, scene_page, scene_pictures
from harness.targets import parse
from harness.trace import read_trace


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_a_scene_is_recorded_from_apache(scene: Scene) -> None:
    statement = catalogue().statement(scene.statement)
    assert statement is not None
    assert scene.role in statement.roles
    header = read_trace(scene.trace).header
    assert header.target.startswith("apache:")
    assert (header.role, header.case) == (scene.role, scene.name)


def test_scenes_are_drawn() -> None:
    shown = scenes()[0]
    traces = {shown.name: read_trace(shown.trace)}
    page = scene_page(scenes(), traces, catalogue())[SCENES]
    assert f"![{shown.title}: the sequence of frames](pictures/{shown.name}.svg)" in page
    assert scenes()[1].title not in page
    (drawn,) = scene_pictures(scenes(), traces).values()
    assert drawn.startswith("<svg")
    assert "REGISTER_BROKER" in drawn


def test_scenes_are_recorded_from_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    written = {}
    monkeypatch.setattr(example_recording, "write_trace", lambda path, trace: written.update({path: trace}))
    played = example_recording.record_scenes(parse("builtin:5.3", "nameserver"), "nameserver", "5.3")
    assert [one.name for one in played] == [one.name for one in scenes() if one.role == "nameserver"]
    assert all(trace.events for trace in written.values())
