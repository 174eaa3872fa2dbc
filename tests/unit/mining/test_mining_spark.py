"""The session: what the user said stands, nothing of it is seen, and its mistakes are sentences."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs Spark: make .venv/.spark, or pip install 'rmq-harness[spark]'")

from py4j.protocol import Py4JError
from pyspark.errors import PySparkRuntimeError

from harness.mining.errors import MiningError
from harness.mining.spark import session, stop, translated

_SAYS = """
from harness.mining.spark import session
from harness.mining.errors import MiningError
try:
    spark = session("test", memory="600m")
except MiningError as problem:
    print(problem)
    raise SystemExit(problem.status)
conf = spark.sparkContext.getConf()
print(spark.sparkContext.master, conf.get("spark.driver.memory"), conf.get("spark.ui.enabled"))
print(spark.range(3).count(), spark.conf.get("spark.sql.session.timeZone"))
workers = spark.sparkContext.parallelize([1], 1).map(lambda _: __import__("sys").prefix).collect()
print(workers == [__import__("sys").prefix])
beans = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
print(*sorted(bean.getName() for bean in beans), sep=", ")
"""
_PARALLEL = "PS MarkSweep, PS Scavenge"
_SERIAL = "Copy, MarkSweepCompact"
_QUICK = "-XX:TieredStopAtLevel=1"
"""Java starts sooner with it."""


def said(cwd: Path, *before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = cwd / "said.py"
    script.write_text(_SAYS)
    command = before or (sys.executable,)
    return subprocess.run(
        [*command, str(script)],
        env=os.environ | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.spark
def test_ours_are_defaults_and_nothing_is_seen_or_left(tmp_path: Path) -> None:
    done = said(tmp_path, SPARK_SUBMIT_OPTS=_QUICK)  # which names no collector
    assert done.stdout.splitlines() == ["local[*,4] 600m false", "3 UTC", "True", _PARALLEL]
    assert done.stderr == ""
    assert [one.name for one in tmp_path.iterdir()] == ["said.py"]


@pytest.mark.spark
@pytest.mark.soak
def test_what_the_files_of_spark_say_stands(tmp_path: Path) -> None:
    lines = (
        "spark.driver.memory 700m",
        "spark.master local[1]",
        "spark.ui.enabled true",
        "spark.sql.session.timeZone CET",
        f"spark.driver.extraJavaOptions {_QUICK} -XX:+UseSerialGC",
    )
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    done = said(tmp_path, SPARK_CONF_DIR=str(tmp_path))
    assert done.stdout.splitlines() == ["local[1] 700m true", "3 UTC", "True", _SERIAL]


@pytest.mark.spark
@pytest.mark.soak
def test_a_collector_that_the_environment_names_stands(tmp_path: Path) -> None:
    done = said(tmp_path, SPARK_SUBMIT_OPTS=f"{_QUICK} -XX:+UseSerialGC")
    assert done.stdout.splitlines()[3:] == [_SERIAL]


@pytest.mark.spark
def test_it_runs_under_spark_submit(tmp_path: Path) -> None:
    submit = str(Path(sys.executable).with_name("spark-submit"))
    options = ("--master", "local[2]", "--driver-memory", "650m")
    done = said(tmp_path, submit, *options, PYSPARK_PYTHON=sys.executable, SPARK_SUBMIT_OPTS=_QUICK)
    assert done.stdout.splitlines()[:3] == ["local[2] 650m false", "3 UTC", "True"]


@pytest.mark.parametrize("memory", ["3m", "0g", "2", "lots", "-1g", "2g "])
def test_too_little_memory_is_a_sentence(memory: str) -> None:
    with pytest.raises(MiningError, match=r"expected such as 800m or 4g, and 512m at least") as told:
        session("test", memory=memory)
    assert told.value.status == 3


def test_a_second_session_is_the_first(spark: Any) -> None:
    assert session("other") is spark


def test_a_missing_file_is_a_sentence(spark: Any) -> None:
    with pytest.raises(MiningError, match=r"not there, .*\(file:/nowhere/at/all\)"), translated():
        spark.read.parquet("/nowhere/at/all").count()


def test_a_foreign_file_is_a_sentence(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 this is no Parquet file, and much too short for one PAR1")
    with pytest.raises(MiningError, match=r"cannot be read as Parquet.*a\.parquet"), translated():
        spark.read.schema("a int").parquet(str(tmp_path)).count()


def test_what_is_not_known_is_one_line_and_a_file(spark: Any) -> None:
    with (
        pytest.raises(MiningError, match=r"Spark failed: .*DIVIDE_BY_ZERO.*rmq-harness-spark-") as told,
        translated(),
    ):
        spark.sql("select 1 / 0").collect()
    assert "\n" not in str(told.value)
    place = Path(str(told.value).rpartition(" ")[2])
    assert "DIVIDE_BY_ZERO" in place.read_text()
    place.unlink()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PySparkRuntimeError("java.lang.OutOfMemoryError: Java heap space"), "--memory 4g"),
        (ConnectionRefusedError("[Errno 111] Connection refused"), "Java has gone"),
        (Py4JError("Answer from Java side is empty"), "Java has gone"),
        (PySparkRuntimeError("Could not parse Master URL: 'spork'"), "expected local"),
        (PySparkRuntimeError("ModuleNotFoundError: No module named 'harness'"), "--py-files"),
        (PySparkRuntimeError("java.io.IOException: No space left on device"), "no space is left"),
    ],
)
def test_what_is_known_is_a_sentence(error: Exception, sentence: str) -> None:
    with pytest.raises(MiningError) as told, translated():
        raise error
    assert sentence in str(told.value)
    assert "Traceback" not in str(told.value)


def test_what_java_left_undone_stays_the_reason_when_java_has_gone() -> None:
    class Gone:
        def stop(self) -> None:
            raise ConnectionRefusedError("[Errno 111] Connection refused")

    gone: Any = Gone()
    with pytest.raises(MiningError, match="Java has gone"):
        try:
            with translated():
                raise Py4JError("Answer from Java side is empty")
        finally:
            stop(gone)


def test_an_interrupt_is_left_to_the_command(spark: Any) -> None:
    assert spark is not None
    assert not getattr(signal.getsignal(signal.SIGINT), "__module__", "").startswith("pyspark")
