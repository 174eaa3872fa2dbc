"""The image of a RocketMQ for tests: the host sends through it, and so does another container."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import docker
import pytest
from clusters import missing
from docker.models.containers import Container
from unit.testing.client import Client

from harness.session.ports import free_port
from harness.targets import TargetError, engine

pytestmark = pytest.mark.live

IMAGE = "rmq-harness/server:latest"
COMMAND = "rmq-harness/harness:latest"
WITHIN = 60.0
SEND = """
import json, socket, urllib.request
from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.bodies import TopicRoute
def post(path, **given):
    request = urllib.request.Request(
        "http://rocketmq:8080" + path, json.dumps(given).encode(), {"Content-Type": "application/json"}
    )
    return urllib.request.urlopen(request).read()
post("/topic", name="orders")
def ask(address, code, ext, body=b""):
    host, port = address.split(":")
    connection, buffer = socket.create_connection((host, int(port)), 10), FrameBuffer()
    connection.sendall(encode(Command(code, opaque=1, version=479, ext=ext, body=body)))
    while (frame := buffer.next_frame()) is None:
        buffer.feed(connection.recv(65536))
    return decode(frame)
route = TopicRoute.decode(ask("rocketmq:9876", 105, {"topic": "orders"}).body)
address = route.broker_datas[0].broker_addrs[0]
ext = {"a": "PG", "b": "orders", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "j": "0"}
assert ask(address, 310, ext, b"from a container").code == 0
print(json.loads(post("/wait_for", topic="orders"))[0]["text"])
"""


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    for image in (IMAGE, COMMAND):
        if engine.inspect(image) is None:
            missing(TargetError(expected=f"image {image}", got="none", do="run ci/image/harness/build.sh"))
    found = docker.from_env()
    yield found
    found.close()


def healthy(container: Container) -> None:
    end = time.monotonic() + WITHIN
    while container.attrs["State"].get("Health", {}).get("Status") != "healthy":
        assert time.monotonic() < end, container.logs()
        time.sleep(0.2)
        container.reload()


def post(port: int, path: str, **given: Any) -> Any:
    request = urllib.request.Request(
        f"http://localhost:{port}{path}", json.dumps(given).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def test_the_host_sends_through_a_container(client: docker.DockerClient) -> None:
    nameserver, broker = free_port(), free_port()
    published = {f"{port}/tcp": ("127.0.0.1", port) for port in (nameserver, broker)}
    container = client.containers.run(
        IMAGE,
        ["--port", str(nameserver), "--broker-port", str(broker)],
        environment={"ADVERTISE": "127.0.0.1"},
        ports={**published, "8080/tcp": ("127.0.0.1", 0)},
        detach=True,
    )
    try:
        healthy(container)
        control = int(container.ports["8080/tcp"][0]["HostPort"])
        post(control, "/topic", name="orders")
        with Client(f"127.0.0.1:{nameserver}", "shop", "orders") as sender:
            assert sender.send("orders", b"from the host").code == 0
        (message,) = post(control, "/wait_for", topic="orders")
        assert message["text"] == "from the host"
    finally:
        container.remove(force=True)


def test_another_container_sends_through_it(client: docker.DockerClient) -> None:
    network = client.networks.create("rmq-harness-test")
    try:
        container = client.containers.run(
            IMAGE, ["--control-name", "rocketmq"], name="rocketmq", network=network.name, detach=True
        )
        try:
            healthy(container)
            said = client.containers.run(
                COMMAND, ["-c", SEND], entrypoint="python", network=network.name, remove=True
            )
            assert said.decode().strip() == "from a container"
        finally:
            container.remove(force=True)
    finally:
        network.remove()
