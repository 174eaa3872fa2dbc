"""A campaign on a real standalone cluster: the runs are those of one machine, and none is lost with a worker.

Master and workers are processes of this test on loopback, ended by their ids.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.mining.java import NoJava, find_java

pytestmark = [pytest.mark.spark, pytest.mark.live, pytest.mark.soak]

TARGETS = ("builtin:5.3", "builtin:5.3?mutant=failure-without-remark")
CLOCKS = {"started", "elapsed_us", "latency_us"}
RUNS, CHUNK = 160, 20


class Cluster:
    """A master and two workers."""

    def __init__(self, root: Path) -> None:
        import pyspark

        self.root = root
        self.environment = os.environ | {
            "JAVA_HOME": str(find_java(os.environ).home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
        }
        self.spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
        self.started: list[subprocess.Popen[bytes]] = []
        deploy = "org.apache.spark.deploy"
        where = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.start("master", f"{deploy}.master.Master", *where)
        self.url = self.said("master", r"Starting Spark master at (spark://\S+)")
        for name in ("worker-1", "worker-2"):
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(root / name))
            self.start(name, f"{deploy}.worker.Worker", *where, *size, self.url)
        for name in ("worker-1", "worker-2"):
            self.said(name, r"Successfully registered with master")

    def start(self, name: str, *arguments: str) -> None:
        with (self.root / f"{name}.log").open("wb") as log:
            self.started.append(
                subprocess.Popen(
                    [self.spark_class, *arguments],
                    env=self.environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def said(self, name: str, pattern: str) -> str:
        log, until = self.root / f"{name}.log", time.monotonic() + 120
        while time.monotonic() < until:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found[1] if found.groups() else found[0]
            time.sleep(0.2)
        raise AssertionError(f"{name} did not say {pattern}:\n{log.read_text(errors='replace')[-3000:]}")

    def kill(self, number: int) -> None:
        """Ends a worker and its executors, as a machine that goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.started[number].pid, signal.SIGKILL)

    def close(self) -> None:
        for number, process in enumerate(self.started):
            self.kill(number)
            process.wait(30)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        made = Cluster(tmp_path_factory.mktemp("cluster"))
    except NoJava as why:
        pytest.skip(str(why))
    yield made
    made.close()


def _campaign(out: Path, master: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    asked = ["--runs", str(RUNS), "--chunk", str(CHUNK), "--seed", "1", "--attempts", "40", "--out", str(out)]
    main = "import sys; from harness.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", main, "campaign", *TARGETS, *asked, "--master", master, "--memory", "600m"],
        env=environment | {"PYSPARK_SUBMIT_ARGS": "--executor-memory 600m pyspark-shell"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> None:
    said, _ = process.communicate(timeout=400)
    assert process.returncode == 1, said  # the mutant fails


def _rows(out: Path) -> list[dict[str, Any]]:
    """All rows, without what a clock said, in the order of target and seed."""
    found = []
    for file in sorted(out.glob("runs/**/*.parquet")):
        for row in pq.read_table(file, partitioning=None).to_pylist():
            found.append({key: row[key] for key in row if key not in CLOCKS})
    return sorted(found, key=lambda row: (row["run_id"].rpartition("/")[2], row["seed"]))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The rows of the same campaign on this machine."""
    out = tmp_path_factory.mktemp("alone")
    _ended(_campaign(out, "local[2,4]", dict(os.environ)))
    return _rows(out)


def test_a_cluster_makes_the_rows_of_one_machine(
    cluster: Cluster, alone: list[dict[str, Any]], tmp_path: Path
) -> None:
    _ended(_campaign(tmp_path, cluster.url, cluster.environment))
    rows = _rows(tmp_path)
    assert len(rows) == RUNS * len(TARGETS)
    assert {row["outcome"] for row in rows} == {"pass", "fail"}
    assert rows == alone


def test_a_worker_that_dies_loses_and_doubles_no_run(
    cluster: Cluster, alone: list[dict[str, Any]], tmp_path: Path
) -> None:
    process = _campaign(tmp_path, cluster.url, cluster.environment)
    until = time.monotonic() + 200
    while len(list(tmp_path.glob("runs/**/*.parquet"))) < 3:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    cluster.kill(1)
    _ended(process)
    assert "stateful" in str(list(tmp_path.glob("runs/**/*.parquet")))
    assert _rows(tmp_path) == alone
    assert not list((tmp_path / ".partial").rglob("*.parquet"))
