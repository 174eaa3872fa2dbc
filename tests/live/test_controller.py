"""Two of Apache's Brokers under a controller: ours, and Apache's own. Both see the same."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from clusters import apache_broker, apache_nameserver, missing, our_nameserver
from peers import Broker, ask, settled

from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import connect, free_port
from harness.targets import TargetError
from harness.targets.settings import CONTROLLER as NEXT_PORT
from harness.targets.settings import with_controller
from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.fastjson import parse

pytestmark = [pytest.mark.live, pytest.mark.soak]

VERSION, NUMBER = "5.3.3", 479
NAME, CLUSTER = "controlled", "controlled"
NEVER = str(24 * 3600 * 1000)
WITHIN = 90.0


def brokers_of(controller: str) -> dict[str, str]:
    """Settings of Brokers. They do not ask who is the master after their start, so they have to be told."""
    return {
        "brokerName": NAME,
        "brokerClusterName": CLUSTER,
        "enableControllerMode": "true",
        "controllerAddr": controller,
        "syncBrokerMetadataPeriod": NEVER,
        "registerNameServerPeriod": "10000",
    }


@contextlib.contextmanager
def ours(directory: Path) -> Generator[tuple[str, str]]:
    """The addresses of `serve nameserver` and of its controller."""
    port = free_port((0, NEXT_PORT))
    settings = {key: value.replace("{dir}", str(directory)) for key, value in CONTROLLER.items()}
    with our_nameserver("5.3", directory, **with_controller(settings, port)) as nameserver:
        yield nameserver, f"127.0.0.1:{port + NEXT_PORT}"


@contextlib.contextmanager
def apaches(directory: Path) -> Generator[tuple[str, str]]:
    """The addresses of Apache's NameServer and of its controller."""
    with apache_nameserver(VERSION, **CONTROLLER) as nameserver:
        host, _, port = nameserver.rpartition(":")
        yield nameserver, f"{host}:{int(port) + NEXT_PORT}"


def replicas(controller: str) -> dict[str, Any]:
    """What the controller says of the Brokers (1006), without places; nothing before it is there."""
    host, _, port = controller.rpartition(":")
    transport, buffer = connect(host, int(port)), FrameBuffer()
    try:
        body = f'["{NAME}"]'.encode()
        transport.send(encode(Command(code=1006, opaque=1, version=NUMBER, body=body)))
        while (frame := buffer.next_frame()) is None:
            buffer.feed(transport.receive(10.0))
    finally:
        transport.close("fin")
    found = parse(decode(frame).body or b"{}").get("replicasInfoTable", {}).get(NAME, {})
    return {
        "master": found.get("masterBrokerId"),
        "epoch": found.get("masterEpoch"),
        "in sync": sorted(one["brokerId"] for one in found.get("inSyncReplicas", [])),
        "epoch of the set": found.get("syncStateSetEpoch"),
    }


def registered(nameserver: str) -> dict[str, str]:
    """The Brokers as the NameServer lists them, by id: the master is 0."""
    table = ask(nameserver, 106, NUMBER).body["brokerAddrTable"]
    return {str(number): address for number, address in table.get(NAME, {}).get("brokerAddrs", {}).items()}


def seen(nameserver: str, controller: str, expected: dict[str, Any], shown: dict[str, Broker]) -> None:
    """Awaits what the controller says, and what has been registered at the NameServer."""
    settled(
        lambda: replicas(controller) == expected, f"{expected}, not {replicas(controller)}", within=WITHIN
    )
    addresses = {number: broker.address for number, broker in shown.items()}
    settled(lambda: registered(nameserver) == addresses, f"{addresses} are registered", within=WITHIN)


def state(master: int, epoch: int, in_sync: list[int], of_set: int) -> dict[str, Any]:
    """What `replicas` shows."""
    return {"master": master, "epoch": epoch, "in sync": in_sync, "epoch of the set": of_set}


@pytest.mark.parametrize("controlled", [ours, apaches])
def test_brokers_accept_the_controller(controlled: Any, tmp_path: Path) -> None:
    """Ids, a master, a set in sync; an election when the master is killed; its return; a master on demand."""
    try:
        with (
            controlled(tmp_path) as (nameserver, controller),
            apache_broker(VERSION, nameserver, **brokers_of(controller)) as one,
        ):
            seen(nameserver, controller, state(1, 1, [1], 1), {"0": one})
            with apache_broker(VERSION, nameserver, **brokers_of(controller)) as two:
                seen(nameserver, controller, state(1, 1, [1, 2], 2), {"0": one, "2": two})
                one.kill()
                seen(nameserver, controller, state(2, 2, [2], 3), {"0": two})
                one.start_again()
                seen(nameserver, controller, state(2, 2, [1, 2], 4), {"0": two, "1": one})
                demanded = {"clusterName": CLUSTER, "brokerName": NAME, "designateElect": "true"}
                assert ask(controller, 1002, NUMBER, brokerId="1", **demanded).code == 0
                seen(nameserver, controller, state(1, 3, [1, 2], 6), {"0": one, "2": two})
    except TargetError as problem:
        missing(problem)
