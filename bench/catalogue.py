"""How long the whole catalogue takes on the built-in reference, start-up and reports included.

One figure and no ratio: nothing else runs the catalogue. The goal is 5 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 3


def main() -> None:
    """Prints the median wall time of `rmq-harness check` for both profiles."""
    for profile in ("4.9", "5.3"):
        times = [_check(profile) for _ in range(ROUNDS)]
        print(
            f"whole catalogue against builtin:{profile}: {statistics.median(times):.1f} s "
            f"(median of {ROUNDS}, {min(times):.1f} to {max(times):.1f} s; goal 5 s)"
        )


def _check(profile: str) -> float:
    command = "import sys; from harness.cli import main; sys.exit(main())"
    with tempfile.TemporaryDirectory() as out:
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", command, "check", f"builtin:{profile}", "--report", "html", "--out", out],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.perf_counter() - begun


if __name__ == "__main__":
    main()
