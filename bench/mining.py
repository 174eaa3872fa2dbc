"""How fast the whole of `mine` is, beside the same questions answered by DuckDB on the same files.

`python -m bench.mining [MILLIONS…]`, by default 1, 5 and 20 million steps; not among the benchmarks of
`python -m bench`, since it takes minutes. Spark has 2 GiB of heap; both have all cores. A first mining of the
smallest data set is not counted: it is spent by Java's compiler. Beside the seconds that passed stand those
of processors, which say more on a machine that has other things to do.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from bench import planted
from bench.questions import questions
from harness.mining.mine import mine
from harness.mining.spark import session

STEPS_OF_A_RUN = 98


def processors() -> float:
    """Seconds of processors that this process and its children, Java among them, have taken by now."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            of, _, rest = stat.read_text().partition(" (")
        except OSError:
            continue
        fields = rest.rpartition(") ")[2].split()
        if os.getpid() in (int(of), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds that passed, seconds of processors."""
    before = time.perf_counter(), processors()
    work()
    return time.perf_counter() - before[0], processors() - before[1]


def ask(root: Path) -> None:
    """The same questions, by DuckDB."""
    for sql in questions(str(root), planted.TARGETS[0]).values():
        duckdb.sql(sql).fetchall()


def main() -> None:
    """Prints a line for each size."""
    sizes = sorted(float(one) for one in sys.argv[1:]) or [1.0, 5.0, 20.0]
    spark = session("bench")
    print(f"mining, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; seconds (of processors)")
    with tempfile.TemporaryDirectory() as folder:
        for number, millions in enumerate(sizes):
            root = Path(folder) / f"{millions:g}"
            _, steps = planted.write(root, int(millions * 1e6 / STEPS_OF_A_RUN / len(planted.TARGETS)))
            if number == 0:
                mine(spark, str(root))
            ours = timed(lambda at=root: mine(spark, str(at)))
            theirs = timed(lambda at=root: ask(at))
            print(
                f"{steps / 1e6:6.1f} million steps: mine {ours[0]:.1f} ({ours[1]:.1f}), "
                f"DuckDB {theirs[0]:.1f} ({theirs[1]:.1f}), ratio {ours[0] / theirs[0]:.1f} "
                f"({ours[1] / theirs[1]:.1f}), a million in {ours[0] / steps * 1e6:.2f} "
                f"({ours[1] / steps * 1e6:.2f}), load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
