"""One Spark session for campaigns and mining, on this machine or on a cluster, and its errors in words.

Invariants:

1. The user's settings win, whether they come from spark-submit, spark-defaults.conf, PYSPARK_SUBMIT_ARGS or
   the environment. Ours are defaults beneath them: the master, the memory, no web interface, no progress
   bars. Only what the answers depend on is always set: UTC, and partition values that stay text.
2. No master is in the code: the default is all cores of this machine, with four attempts for a task, since on
   ``local[N]`` the first death of a worker would end a job.
3. Nothing of Spark appears on the terminal. What Java writes is kept, for the sentence that says what failed.
4. Over Spark Connect (a master ``sc://…`` or SPARK_REMOTE) there is only a session: mining needs nothing
   else.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from harness.mining.errors import MiningError
from harness.mining.java import find_java

DEFAULT_MASTER = "local[*,4]"

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Parts that are small enough to be counted in memory, however much there is: without these two, states
    # are counted in as many parts as there are cores.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m",
    # Few enough that each is worth its file: what is written for 200 takes a fifth more (`bench.mining`).
    "spark.sql.shuffle.partitions": "64",
}
_LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_COLLECTOR = "-XX:+UseParallelGC"
"""Mining is slower with Java's own choice (`bench.mining`): what it leaves behind is short-lived."""
_JAVA_SAID = (
    "SPARK_SUBMIT_OPTS",
    "PYSPARK_SUBMIT_ARGS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
)
"""Where users speak to Java through the environment. To name two collectors would keep it from starting."""
_LOG_TAIL = 20_000
_MEMORY = re.compile("([0-9]{1,6})([mg])")
_LEAST = 512
"""Megabytes: what Spark starts with, and a little."""


class _Java:
    """The Java process of this Python process: one for good, as py4j wants it, and what it wrote."""

    gateway: Any = None
    log: Any = None


def session(
    app: str,
    *,
    master: str | None = None,
    memory: str = "2g",
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session; the one that runs already, if one does.

    ``master`` and ``config`` are what the caller insists on, ``memory`` the heap of the driver where nothing
    else is said. Raises ``MiningError``, of which ``NoJava`` is one.
    """
    check_memory(memory)
    with translated():
        remote = (
            master if master is not None and master.startswith("sc://") else os.environ.get("SPARK_REMOTE")
        )
        if remote is not None:
            spark = _remote(app, remote)
        else:
            spark = SparkSession.getActiveSession() or _started(app, master, memory, dict(config or {}))
        for key, value in _ALWAYS.items():
            spark.conf.set(key, value)
    return spark


def check_memory(memory: str) -> None:
    """Raises ``MiningError`` for an amount that is none, or too little to start with."""
    amount = _MEMORY.fullmatch(memory)
    if amount is None or int(amount[1]) * (1024 if amount[2] == "g" else 1) < _LEAST:
        raise MiningError(f"memory {memory}: expected such as 800m or 4g, and {_LEAST}m at least", status=3)


def _remote(app: str, url: str) -> SparkSession:
    try:
        return SparkSession.builder.appName(app).remote(url).getOrCreate()
    except ImportError as missing:
        raise MiningError(
            f"{url}: the client of Spark Connect is not installed ({missing.name or missing}): "
            "pip install 'pyspark[connect]'"
        ) from None


def _started(app: str, master: str | None, memory: str, insisted: dict[str, str]) -> SparkSession:
    if master is not None:
        insisted["spark.master"] = master
    # The weakest place that Spark reads: below its files, below every option.
    weakest = {"SPARK_DRIVER_MEMORY": memory, "MASTER": DEFAULT_MASTER}
    with _environment(weakest):
        if _Java.gateway is None:
            _launch(insisted)
        conf = SparkConf(_jvm=_Java.gateway.jvm)
        for key, value in insisted.items():
            conf.set(key, value)
        local = conf.get("spark.master", "").startswith("local")
        for key, value in (_DEFAULTS | (_LOCAL if local else {})).items():
            conf.setIfMissing(key, value)
        # Workers are of this interpreter where they are on this machine; on a cluster its owner knows.
        with _environment({"PYSPARK_PYTHON": sys.executable} if local else {}):
            _context(conf, app)
    return SparkSession.builder.getOrCreate()


def _context(conf: SparkConf, app: str) -> None:
    """Starts Spark in a thread that is not the main one. From there PySpark would put up its own handler of
    interrupts, which speaks to Java from within whatever is being said to Java.
    """
    logging.getLogger().addFilter(_is_news)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(SparkContext, conf=conf, appName=app, gateway=_Java.gateway).result()


def _is_news(record: logging.LogRecord) -> bool:
    """What py4j writes where an interrupt meets it, with a trace, is none: the user has interrupted it."""
    return record.msg != "KeyboardInterrupt while sending command."


def _launch(insisted: Mapping[str, str]) -> None:
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java
        _Java.gateway = launch_gateway()
        return
    conf = SparkConf(loadDefaults=False)
    for key, value in insisted.items():
        conf.set(key, value)
    _Java.log = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as Java runs
    java = {"JAVA_HOME": str(find_java(os.environ).home)}
    if not _says_collector(insisted):
        java["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {_COLLECTOR}".strip()
    with _environment(java, over=True):
        _Java.gateway = launch_gateway(conf, {"stdout": _Java.log, "stderr": _Java.log})


def _says_collector(insisted: Mapping[str, str]) -> bool:
    """Whether a garbage collector has been chosen, be it in Spark's own file."""
    said = [*insisted.values(), *(os.environ.get(name, "") for name in _JAVA_SAID)]
    home = os.environ.get("SPARK_CONF_DIR") or f"{_find_spark_home()}/conf"
    with contextlib.suppress(OSError):
        said.append(Path(home, "spark-defaults.conf").read_text(encoding="utf-8", errors="replace"))
    return any(re.search(r"-XX:[+]Use\w*GC\b", one) for one in said)


@contextlib.contextmanager
def _environment(values: Mapping[str, str], *, over: bool = False) -> Iterator[None]:
    """Variables for a while; those that are set already stay as they are, unless ``over``."""
    before = {key: os.environ.get(key) for key in values}
    os.environ.update({key: value for key, value in values.items() if over or before[key] is None})
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = old


# --- mistakes in words --------------------------------------------------------------------------------------

_KNOWN = (
    (
        r"OutOfMemoryError|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY",
        "Spark ran out of memory: give it more with --memory 4g (2g where nothing is said)",
    ),
    (
        r"Could not reserve enough space|Cannot allocate memory|insufficient memory",
        "Java could not get the memory that it was given: free some, or ask for less with --memory 1g",
    ),
    (
        r"Invalid (?:maximum|initial) heap size|must be at least",
        "the memory for Spark's driver is too little, or no number that Java takes: expected such as 2g",
    ),
    (r"No space left on device", "no space is left on a disk that Spark writes to (see spark.local.dir)"),
    (
        r"PYTHON_VERSION_MISMATCH",
        "the workers run another version of Python than this command: set PYSPARK_PYTHON to the same on both",
    ),
    (
        r"Could not parse Master URL|MASTER_URL",
        "the master is none that Spark knows: expected local[N,4], spark://HOST:PORT, yarn, k8s://… or sc://…",
    ),
    (
        r"All masters are unresponsive|Failed to connect to master|UnknownHostException|UnresolvedAddress",
        "the master does not answer: is it running, and can it be reached from here?",
    ),
    (
        r"No module named '?(?:harness|pyarrow|msgspec)",
        "the workers lack a module: hand the wheel over with --py-files, and install there what it needs",
    ),
    (
        r"PATH_NOT_FOUND|FileNotFoundException",
        "a file or directory is not there, or has gone while it was read",
    ),
    (
        r"CANNOT_READ_FILE_FOOTER|is not a Parquet file|FAILED_READ_FILE|UNABLE_TO_INFER_SCHEMA|PARQUET_",
        "a file cannot be read as Parquet of this project",
    ),
    (
        r"AccessControlException|Permission denied",
        "a file or directory may not be read or written by this user",
    ),
    (
        r"Connection refused|Answer from Java side is empty|Error while sending|Py4JNetworkError",
        "Java has gone; the machine may have ended it for want of memory (see --memory)",
    ),
)
_KNOWN_WHERE = re.compile(r"(?:file|hdfs|s3a?|abfss?|gs):/[^\s'\"`\]),]+")


_OF_SPARK = (PySparkException, Py4JError, ConnectionError, EOFError)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Spark's exceptions inside become a ``MiningError`` of a sentence or two."""
    try:
        yield
    except _OF_SPARK as error:
        raise _in_words(error) from error


def stop(spark: SparkSession) -> None:
    """Stops Spark. Where Java has gone, nothing is left to stop, and what failed before says so."""
    with contextlib.suppress(*_OF_SPARK):
        spark.stop()


def _in_words(error: Exception) -> MiningError:
    text = f"{type(error).__name__}: {error}"
    if "JAVA_GATEWAY_EXITED" in text:  # Java never started: why, only its own output says
        text += f"\n{_log()}"
    for pattern, sentence in _KNOWN:
        if re.search(pattern, text):
            where = _KNOWN_WHERE.search(text)
            return MiningError(sentence + (f" ({where[0].rstrip('.')})" if where else ""))
    first = str(error).strip().partition("\n")[0] or type(error).__name__
    with tempfile.NamedTemporaryFile(
        "w", prefix="rmq-harness-spark-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"{text}\n\n--- what Java wrote\n{_log()}")
    return MiningError(f"Spark failed: {first}; all of it is in {file.name}")


def _log() -> str:
    if _Java.log is None:
        return ""
    _Java.log.flush()
    size = os.fstat(_Java.log.fileno()).st_size
    return os.pread(_Java.log.fileno(), _LOG_TAIL, max(0, size - _LOG_TAIL)).decode("utf-8", "replace")
