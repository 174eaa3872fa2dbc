"""Where the answer of a measure is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.cli.parser import Usage


def written(path: Path, answer: Mapping[str, Any]) -> Path:
    """Writes the answer as JSON and returns where. Raises Usage for a place that cannot be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(answer), indent=2) + b"\n")
    except OSError as error:
        raise Usage(
            f"rmq-harness selftest: --out {path.parent}: {error.strerror}; expected a place to write to"
        ) from None
    return path
