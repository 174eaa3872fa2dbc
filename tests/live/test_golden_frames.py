"""The golden frames, headers and messages are what Apache's codec makes today: made again, and compared."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.targets.maven import classpath

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.live
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3", "5.5.0"])
def test_golden_frames_are_what_apaches_encoder_writes(version: str) -> None:
    run = subprocess.run(
        ["java", "-cp", classpath(version), str(FIXTURES / "java" / "GoldenFrames.java"), version],
        capture_output=True,
        timeout=300,
        check=True,
    )
    fresh = json.loads(run.stdout)
    kept = json.loads((FIXTURES / "frames" / f"{version}.json").read_text("ascii"))
    assert _vectors(fresh) == _vectors(kept)


@pytest.mark.live
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3", "5.5.0"])
def test_odd_headers_are_what_apaches_decoder_reads(version: str) -> None:
    run = subprocess.run(
        ["java", "-cp", classpath(version), str(FIXTURES / "java" / "ReadHeaders.java"), version],
        input=(FIXTURES / "headers" / "texts.txt").read_bytes(),
        capture_output=True,
        timeout=300,
        check=True,
    )
    kept = json.loads((FIXTURES / "headers" / f"{version}.json").read_text("ascii"))
    assert json.loads(run.stdout)["headers"] == kept["headers"]


@pytest.mark.live
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_golden_messages_are_what_apaches_encoder_writes(version: str) -> None:
    run = subprocess.run(
        [
            "java",
            "-cp",
            classpath(version, ["rocketmq-broker"]),
            str(FIXTURES / "java" / "GoldenMessages.java"),
            version,
        ],
        capture_output=True,
        timeout=300,
        check=True,
    )
    kept = json.loads((FIXTURES / "messages" / f"{version}.json").read_text("ascii"))
    assert json.loads(run.stdout)["vectors"] == kept["vectors"]


def _vectors(document: dict[str, Any]) -> dict[str, Any]:
    """All but the compressed bytes, which depend on the zlib of the Java at hand."""
    return {
        vector["name"]: {**vector, "hex": "" if vector["type"].endswith("#compressed") else vector["hex"]}
        for vector in document["vectors"]
    }
