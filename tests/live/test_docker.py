"""NameServers in containers. Needs a container engine and the images of ``ci/image/build.sh 4.9.8 5.3.3``.

Skipped with the reason where one is missing; a failure instead where RMQ_REQUIRE_LIVE=1 is set.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import docker
import pytest
from test_catalogue_on_apache import WARP, assert_conformant, check, check_anew, jars_of

from harness.conformance import Reply
from harness.report.results import read_run
from harness.session import NameServerSession, TargetDied
from harness.targets import TargetError, engine, parse
from harness.targets.container import _OWNER, ContainerInstance

pytestmark = pytest.mark.live

IMAGE = "rmq-harness/rocketmq"
SUCCESS, SYSTEM_ERROR, TOPIC_NOT_EXIST = 0, 1, 17


@pytest.fixture(scope="module", autouse=True)
def images() -> None:
    for version in ("4.9.8", "5.3.3"):
        if engine.inspect(f"{IMAGE}:{version}") is None:
            reason = f"no container engine, or no image {IMAGE}:{version} in it (ci/image/build.sh makes it)"
            if os.environ.get("RMQ_REQUIRE_LIVE") == "1":
                pytest.fail(reason)
            pytest.skip(reason)


@pytest.fixture
def client() -> Generator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def instance() -> Generator[ContainerInstance]:
    started = parse(f"docker:{IMAGE}:5.3.3").start()
    assert isinstance(started, ContainerInstance)
    yield started
    started.stop()


def containers(client: docker.DockerClient, owner: str = "") -> list[str]:
    """Ids of the containers of an owner; without one, of this process."""
    label = f"{engine.OWNER}={owner or _OWNER.name()}"
    return [found.id for found in client.containers.list(all=True, filters={"label": label})]


SOME_CHAPTERS = ("--select", "sanity,registration,kv,routes", "--fast")


@pytest.mark.parametrize(
    ("version", "profile", "chapters"),
    [
        ("5.3.3", "5.3", SOME_CHAPTERS),
        pytest.param("4.9.8", "4.9", (), marks=pytest.mark.soak),
        pytest.param("5.3.3", "5.3", (), marks=pytest.mark.soak),
    ],
)
def test_a_container_gets_the_verdicts_of_the_same_jars(
    version: str, profile: str, chapters: tuple[str, ...], tmp_path: Path
) -> None:
    target = f"docker:{IMAGE}:{version}?warp={WARP}"
    verdicts, said = check_anew(target, profile, tmp_path / "container", *chapters)
    assert_conformant(verdicts, said, least=100)
    jars, said_of_jars = check(jars_of(version), profile, tmp_path / "jars", *chapters)
    header = read_run(tmp_path / "container" / "all").header
    by_chance = {case for quirk in header.quirks if quirk.intermittent for case in quirk.cases}
    differ = {case for case in verdicts.keys() | jars.keys() if verdicts.get(case) != jars.get(case)}
    assert differ <= by_chance, said + said_of_jars


def test_restart_keeps_kv_and_forgets_routes_and_stop_removes(
    instance: ContainerInstance, client: docker.DockerClient
) -> None:
    with NameServerSession(instance, "5.3") as ns:
        broker, namespace = ns.broker(), ns.name("namespace")
        broker.register() >> Reply(SUCCESS)
        ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
        ns.restart()
        ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "value")
        ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    before = containers(client)
    assert instance.shared()["host"] == "127.0.0.1"
    assert instance.alive()
    instance.stop()
    assert len(containers(client)) == len(before) - 1
    assert not instance.alive()
    assert "boot success" in instance.output()


def test_a_server_that_answers_late_lives_and_one_that_stays_silent_does_not(
    instance: ContainerInstance, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = client.containers.get(containers(client)[0])
    frozen.pause()
    try:
        thaw = threading.Timer(3.0, frozen.unpause)
        thaw.start()
        assert instance.alive()
        thaw.join()
        frozen.pause()
        monkeypatch.setattr("harness.targets.container.SILENT", 2.0)
        assert not instance.alive()
    finally:
        frozen.unpause()
    assert instance.alive()


def test_a_container_that_ends_is_reported(instance: ContainerInstance, client: docker.DockerClient) -> None:
    for found in containers(client):
        client.containers.get(found).kill()
    assert not instance.alive()
    with pytest.raises(TargetDied, match="has ended"):
        instance.open()


def test_settings_of_a_case_reach_the_server() -> None:
    another = parse(f"docker:{IMAGE}:5.3.3").another((("enableAllTopicList", "false"),))
    try:
        with NameServerSession(another, "5.3") as ns:
            ns.call(206) >> Reply(SYSTEM_ERROR)
    finally:
        another.stop()


def test_the_profile_is_that_of_the_version_in_the_image(client: docker.DockerClient) -> None:
    client.images.get(f"{IMAGE}:4.9.8").tag("rmq-harness/untold", "latest")
    try:
        assert parse("docker:rmq-harness/untold").line == "4.9"
        assert parse("docker:rmq-harness/untold?profile=5.3").line == "5.3"
    finally:
        client.images.remove("rmq-harness/untold:latest")


def test_containers_of_a_killed_harness_are_removed(client: docker.DockerClient) -> None:
    program = (
        "import time; from harness.targets import parse; from harness.targets.container import _OWNER;"
        f"parse('docker:{IMAGE}:5.3.3').start(); print(_OWNER.name(), flush=True); time.sleep(600)"
    )
    killed = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    owner = killed.stdout.readline().strip()
    assert len(containers(client, owner)) == 1
    killed.kill()
    killed.communicate()
    end = time.monotonic() + 60
    while containers(client, owner):
        assert time.monotonic() < end, "the container outlives the harness"
        time.sleep(0.2)


def test_an_image_that_is_not_there() -> None:
    with pytest.raises(TargetError, match=r"expected  the image rmq-harness/nowhere:1, here or in its reg"):
        parse("docker:rmq-harness/nowhere:1").start()


def test_an_image_without_libfaketime(client: docker.DockerClient) -> None:
    client.api.import_image_from_data(b"\0" * 1024, repository="rmq-harness/empty", tag="5.3.3")
    try:
        with pytest.raises(TargetError, match=r"expected  libfaketime in the image rmq-harness/empty"):
            parse("docker:rmq-harness/empty:5.3.3?warp=60").start()
        with pytest.raises(TargetError, match=r"expected  a container of the image rmq-harness/empty"):
            parse("docker:rmq-harness/empty:5.3.3").start()
    finally:
        client.images.remove("rmq-harness/empty:5.3.3")
