"""The cache of Apache's jars, with a Maven of the test's own."""

from __future__ import annotations

import os
import threading
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from harness.targets import TargetError, maven, parse

_MVN = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  *version=9.9.9*) echo '[ERROR] Not found: org.apache.rocketmq:rocketmq-namesrv:jar:9.9.9 in x'; exit 1;;
  *version=8.8.8*) echo '[ERROR] Could not transfer artifact: Unknown host'; exit 1;;
  *version=4.9.8*server.version=*) jar=rocketmq-namesrv-4.9.7.jar;;
  *version=4.9.8*) echo '[ERROR] org.apache.rocketmq:rocketmq-namesrv:jar:4.9.8 was not found'; exit 1;;
  *version=5.3.4*) echo '[ERROR] org.apache.rocketmq:rocketmq-client:jar:5.3.4 was not found'; exit 1;;
  *dependency:get*) exit 0;;
esac
for argument; do case $argument in -DoutputDirectory=*) out=${argument#*=};; esac; done
sleep 0.1
touch "$out/${jar:-one.jar}"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The calls of a stand-in for mvn; cache and home are the test's own."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "mvn").write_text(_MVN)
    (binaries / "mvn").chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()
    monkeypatch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RMQ_HARNESS_CACHE", str(tmp_path / "cache"))
    return calls


def test_the_first_caller_fetches_the_jars_once(calls: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(maven.classpath("5.3.3"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(calls.read_text().splitlines()) == 1
    assert Path(found[0]).name == "*"
    assert [jar.name for jar in Path(found[0]).parent.iterdir()] == ["one.jar"]


def test_a_version_that_is_not_complete_is_put_together(calls: Path) -> None:
    maven.jars("4.9.8")
    as_published, composed = calls.read_text().splitlines()
    assert "server.version" not in as_published
    assert "-Drocketmq.version=4.9.8" in composed
    assert "-Drocketmq.server.version=4.9.7" in composed
    said = maven.stand_in("4.9.8")
    assert "its rocketmq-namesrv is that of 4.9.7, because Maven has none of 4.9.8" in said
    assert "broker" not in said


def test_a_version_without_libraries_is_refused(calls: Path) -> None:
    with pytest.raises(TargetError, match=r"there is no rocketmq-client 5\.3\.4"):
        maven.jars("5.3.4")


def test_a_version_that_is_complete_is_taken_as_it_is(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(maven.COMPOSED, "5.3.3", maven.Composed("5.2.0", {"rocketmq-namesrv": "no"}))
    maven.jars("5.3.3")
    assert len(calls.read_text().splitlines()) == 1
    assert maven.stand_in("5.3.3") == ""


def test_an_unpublished_version_shows_those_that_are(calls: Path, tmp_path: Path) -> None:
    known = tmp_path / "home/.m2/repository/org/apache/rocketmq/rocketmq-namesrv"
    known.mkdir(parents=True)
    (known / "maven-metadata-x.xml").write_text("<v><version>5.2.0</version><version>5.3.3</version></v>")
    with pytest.raises(TargetError, match=r"there are 5\.2\.0, 5\.3\.3"):
        maven.jars("9.9.9")
    assert not list((tmp_path / "cache" / "maven").glob("9.9.9*/"))


def test_an_unreachable_repository_is_not_an_unpublished_version(calls: Path) -> None:
    with pytest.raises(TargetError, match="Unknown host"):
        maven.jars("8.8.8")


def test_without_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("RMQ_HARNESS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(TargetError, match="install Maven"):
        maven.jars("5.3.3")


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(TargetError, match="install a JDK"):
        parse("apache:5.3.3").start()


def test_nonsense_is_no_version() -> None:
    with pytest.raises(TargetError, match="a version of Apache RocketMQ"):
        maven.jars("../../etc")
    with pytest.raises(ValueError, match="the pom knows"):
        maven.jars("5.3.3", ["rocketmq-proxy"])


def test_the_pom_knows_every_artifact() -> None:
    space = {"m": "http://maven.apache.org/POM/4.0.0"}
    pom = Xml.parse(maven._pom())
    assert [found.text for found in pom.findall("m:profiles/m:profile/m:id", space)] == list(maven._ARTIFACTS)
