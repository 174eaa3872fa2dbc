"""Golden outputs: `tests/snapshots/` holds what a report looked like when a person last looked at it.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/report` writes them anew; look at the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

SNAPSHOTS = Path(__file__).resolve().parents[2] / "snapshots" / "report"


def check(name: str, text: str) -> None:
    """The text is what the golden file says."""
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden file {name}; make it with UPDATE_SNAPSHOTS=1"
    assert text == path.read_text(encoding="utf-8")
