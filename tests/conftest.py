"""For all tests: none asserts a time, so property tests have no deadline; one Spark session serves all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from harness.targets import warp
from harness.targets.errors import TargetError

MINING = "tests/unit/mining/"

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


class OneSpark(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """A file at a time, and all files that mine as one: each Spark session would have to warm up anew."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return MINING if file.startswith(MINING) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSpark | None:
    return OneSpark(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def faketime() -> None:
    """What runs a process's time faster; a test that needs it is skipped where it is not installed."""
    try:
        warp.environment(60)
    except TargetError:
        pytest.skip("libfaketime is not installed (Debian: apt install faketime)")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark on this machine for all tests of a run, quick to start rather than quick for long."""
    pytest.importorskip(
        "pyspark", reason="needs Spark: make .venv/.spark, or pip install 'rmq-harness[spark]'"
    )
    from harness.mining.java import NoJava
    from harness.mining.spark import session

    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    try:
        started = session(
            "tests",
            master="local[2,4]",
            memory="1g",
            config={"spark.driver.extraJavaOptions": quick, "spark.sql.shuffle.partitions": "2"},
        )
    except NoJava as why:
        pytest.skip(str(why))
    yield started
    started.stop()
