"""How fast the whole of `mine` is, beside the same questions answered by DuckDB on the same files.

`python -m bench.mining [MILLIONS|DIR…]`, by default 1, 5 and 20 million steps; a directory is one that was
made before. Not among the benchmarks of `python -m bench`, since it takes minutes. Spark has 2 GiB of heap;
both have all cores. A first mining of the first data set is told by itself: it is spent by Java's compiler.
So are the start of Spark and the drawing of the page, which are no questions. Beside the seconds that passed
stand those of processors, which say more on a machine that has other things to do.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from bench import planted
from bench.questions import questions
from harness.catalogue import catalogue
from harness.mining.mine import Mined, mine
from harness.mining.page.report import About, render
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


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What came of it, seconds that passed, seconds of processors."""
    before = time.perf_counter(), processors()
    done = work()
    return done, time.perf_counter() - before[0], processors() - before[1]


def ask(root: Path) -> None:
    """The same questions, by DuckDB."""
    for sql in questions(str(root), planted.TARGETS[0]).values():
        duckdb.sql(sql).fetchall()


def draw(mined: Mined) -> None:
    """The page, as the command writes it."""
    rows = {name: table.to_pylist() for name, table in mined.tables.items()}
    about = About(root="bench", against=None, suite="0")
    render(rows, {one.id: one for one in catalogue().statements}, about)


def data(asked: str, folder: Path) -> Path:
    """Where the runs are: made now, where a number was said."""
    if Path(asked).is_dir():
        return Path(asked)
    planted.write(folder / asked, int(float(asked) * 1e6 / STEPS_OF_A_RUN / len(planted.TARGETS)))
    return folder / asked


def main() -> None:
    """Prints a line for each size."""
    print(f"mining, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; seconds (of processors)")
    spark, wall, cpu = timed(lambda: session("bench"))
    print(f"Spark started in {wall:.1f} ({cpu:.1f})", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, asked in enumerate(sys.argv[1:] or ["1", "5", "20"]):
            root = data(asked, Path(folder))
            if number == 0:
                mined, wall, cpu = timed(lambda at=root: mine(spark, str(at)))
                print(f"the first mining {wall:.1f} ({cpu:.1f})", end=", ")
                _, wall, cpu = timed(lambda tables=mined: draw(tables))
                print(f"its page {wall:.1f} ({cpu:.1f})", flush=True)
            mined, wall, cpu = timed(lambda at=root: mine(spark, str(at)))
            _, their_wall, their_cpu = timed(lambda at=root: ask(at))
            millions = mined.steps / 1e6
            print(
                f"{millions:6.1f} million steps: mine {wall:.1f} ({cpu:.1f}), "
                f"DuckDB {their_wall:.1f} ({their_cpu:.1f}), "
                f"ratio {wall / their_wall:.1f} ({cpu / their_cpu:.1f}), "
                f"a million in {wall / millions:.2f} ({cpu / millions:.2f}), load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
