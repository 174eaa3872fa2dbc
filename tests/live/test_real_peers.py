"""Apache's own tools and Brokers get the same from the reference as from Apache's own NameServer.

Three NameServers stand side by side: Apache's, Apache's once more (what differs there is a fault of the
comparison), and ours. A real Broker registers with all three; `mqadmin` and single requests ask each alike.
Maven has no Broker and no NameServer of 4.9.8: theirs are of 4.9.7, on the libraries of 4.9.8
(``harness.targets.maven``).
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import signal
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest
from clusters import ONE_IN_CI
from peers import NORMALISED, Admin, Answer, Broker, ask, settled

from harness.session import Setup
from harness.targets import TargetError, maven, parse
from harness.targets.process import ProcessInstance

pytestmark = pytest.mark.live

VERSIONS = {"4.9.8": 409, "5.3.3": 479}
OURS = "the reference"
APACHE, AGAIN = "Apache", "Apache again"
UNKNOWN = 17

LEASE, SCAN = 10, 5
"""Seconds: `brokerNotActiveTimeoutMillis` of a Broker that sends 904, and the NameServer's scan of 5.x."""
ACTING_MASTER = {
    "enableSlaveActingMaster": "true",  # sends a light heartbeat (904) every second
    "compatibleWithOldNameSrv": "false",  # asks for its group with 901
    "registerNameServerPeriod": "60000",  # so that heartbeats alone keep the lease
}


class Server(msgspec.Struct, frozen=True):
    address: str
    directory: str
    instance: ProcessInstance


class Scene:
    """NameServers side by side, and who asks them."""

    def __init__(self, version: str, setup: Setup, directory: Path) -> None:
        self.version = version
        self.differences: list[str] = []
        self._started: list[ProcessInstance | Broker] = []
        self._admin = Admin(version, directory)
        line = "4.9" if version.startswith("4.") else "5.3"
        command = Path(sys.executable).with_name("rmq-harness")
        ours = f"exec:{command} serve nameserver --profile {line} --port {{port}} --config {{config}}"
        places = (("kvConfigPath", "{dir}/namesrv/kvConfig.json"), ("rocketmqHome", "{dir}"), *setup)
        if line != "4.9":
            places = (("bindAddress", "127.0.0.1"), *places)
        self.servers = {
            name: self._server(uri, places)
            for name, uri in {APACHE: f"apache:{version}", AGAIN: f"apache:{version}", OURS: ours}.items()
        }

    def _server(self, uri: str, setup: Setup) -> Server:
        instance = parse(uri).another(setup)
        assert isinstance(instance, ProcessInstance)
        self._started.append(instance)
        return Server(f"127.0.0.1:{instance.port}", str(instance._directory), instance)

    def broker(self, **settings: str) -> Broker:
        addresses = [server.address for server in self.servers.values()]
        broker = Broker(self.version, addresses, **settings)
        self._started.append(broker)
        return broker

    def ask(self, name: str, code: int, **ext: str) -> Answer:
        return ask(self.servers[name].address, code, VERSIONS[self.version], **ext)

    def everywhere(self, condition: Callable[[Callable[..., Answer]], bool], what: str) -> None:
        """Waits until a condition on a server's answers holds for every server."""
        for name in self.servers:
            settled(lambda name=name: condition(functools.partial(self.ask, name)), f"{what} ({name})")

    def admin(self, *commands: str) -> None:
        """Each command is run against every server, one after the other; what it writes must be the same."""
        for command in commands:
            said = {name: self._normalised(name, command) for name in self.servers}
            self._compare(f"mqadmin {command}", said)

    def answers(self, *questions: tuple[int, dict[str, str]]) -> None:
        """Each request is answered alike."""
        for code, ext in questions:
            said = {name: repr(self.ask(name, code, **ext)) for name in self.servers}
            self._compare(f"code {code} {ext}", said)

    def same(self) -> None:
        assert not self.differences, "\n\n".join(self.differences)

    def close(self) -> None:
        self._admin.close()
        for one in reversed(self._started):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
            one.stop()

    def _normalised(self, name: str, command: str) -> str:
        server = self.servers[name]
        places, *others = NORMALISED
        text = places(self._admin.run(server.address, command), server.address, server.directory)
        for rule in others:
            text = rule(text)
        return text

    def _compare(self, question: str, said: dict[str, str]) -> None:
        for name in (AGAIN, OURS):
            if said[name] != said[APACHE]:
                lines = difflib.unified_diff(
                    said[APACHE].splitlines(), said[name].splitlines(), APACHE, name, lineterm="", n=1
                )
                self.differences.append(f"{question}\n" + "\n".join(lines))


@pytest.fixture(params=ONE_IN_CI)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def scenes(version: str, tmp_path: Path) -> Generator[Callable[..., Scene]]:
    made: list[Scene] = []

    def scene(*setup: tuple[str, str]) -> Scene:
        try:
            made.append(Scene(version, setup, tmp_path))
        except TargetError as problem:
            if os.environ.get("RMQ_REQUIRE_LIVE") == "1":
                raise
            pytest.skip(str(problem))
        return made[-1]

    yield scene
    for one in made:
        one.close()


def registered(broker: str, *ids: str) -> Callable[[Callable[..., Answer]], bool]:
    """Whether a broker name is registered with these broker ids and no others."""

    def look(ask: Callable[..., Answer]) -> bool:
        table = ask(106).body["brokerAddrTable"]
        return set(table.get(broker, {"brokerAddrs": {}})["brokerAddrs"]) == set(ids)

    return look


def test_mqadmin_without_a_broker(scenes: Callable[..., Scene], version: str) -> None:
    scene = scenes()
    # The module of 4.9.7 that stands in for that of 4.9.8 refuses this with another remark.
    whole = not maven.stand_in(version)
    scene.admin(
        "getNamesrvConfig",
        "updateNamesrvConfig -k productEnvName -v peers",
        "updateNamesrvConfig -k orderMessageEnable -v true",
        "getNamesrvConfig",
        *(["updateNamesrvConfig -k kvConfigPath -v /tmp/elsewhere"] if whole else []),
        "updateKvConfig -s peers -k key -v value",
        "deleteKvConfig -s peers -k key",
        "deleteKvConfig -s peers -k key",
        "updateOrderConf -t Ordered -m get",
        "updateOrderConf -t Ordered -m put -v broker-a:4;broker-b:4",
        "updateOrderConf -t Ordered -m get",
        "updateOrderConf -t Ordered -m delete",
        "updateOrderConf -t Ordered -m get",
        "wipeWritePerm -b broker-a",
        "addWritePerm -b broker-a",
        "topicRoute -t Unknown",
        "topicRoute -t Unknown -l",
        "topicClusterList -t Unknown",
        "topicList",
        "topicList -c",
        "allocateMQ -t Unknown -i 10.0.0.1,10.0.0.2",
        "clusterList",
    )
    scene.same()


def test_a_broker_comes_and_goes(scenes: Callable[..., Scene]) -> None:
    scene = scenes()
    broker = scene.broker()
    scene.everywhere(registered("broker-a", "0"), "the broker is registered")
    questions = [
        *((105, {"topic": topic}) for topic in ("SELF_TEST_TOPIC", "TBW102", "Unknown", "peers", "broker-a")),
        *((code, {}) for code in (106, 206, 304, 311, 312, 313)),
        (224, {"cluster": "peers"}),
    ]
    scene.answers(*questions)
    commands = [
        "topicRoute -t SELF_TEST_TOPIC",
        "topicRoute -t SELF_TEST_TOPIC -l",
        "topicClusterList -t SELF_TEST_TOPIC",
        "topicList",
        "topicList -c",
        "allocateMQ -t SELF_TEST_TOPIC -i 10.0.0.1,10.0.0.2,10.0.0.3",
        "clusterList",
    ]
    scene.admin(*commands)

    permissions = ["wipeWritePerm -b broker-a", "topicRoute -t SELF_TEST_TOPIC", "addWritePerm -b broker-a"]
    scene.admin(*permissions, "topicRoute -t SELF_TEST_TOPIC")

    # A topic is created at the broker, which registers it, and deleted at the broker and in each NameServer.
    scene.admin(f"updateTopic -b {broker.address} -t Created -r 3 -w 2 -p 6")
    scene.everywhere(lambda ask: ask(105, topic="Created").code == 0, "the new topic is routed")
    scene.answers((105, {"topic": "Created"}))
    scene.admin("topicRoute -t Created", "allocateMQ -t Created -i 10.0.0.1,10.0.0.2")
    scene.admin("deleteTopic -c peers -t Created", "topicRoute -t Created", "topicList")
    scene.answers((105, {"topic": "Created"}), (206, {}))

    broker.terminate()
    scene.everywhere(registered("broker-a"), "the broker is gone")
    scene.answers(*questions)
    scene.admin(*commands)

    broker.start_again()
    scene.everywhere(registered("broker-a", "0"), "the broker is registered again")
    scene.answers(*questions)
    broker.kill()
    scene.everywhere(registered("broker-a"), "the broker is gone")
    scene.answers(*questions)
    scene.admin(*commands)
    scene.same()


@pytest.mark.soak
def test_a_slave_stays_where_the_master_goes(scenes: Callable[..., Scene], version: str) -> None:
    newer = VERSIONS[version] > VERSIONS["4.9.8"]
    scene = scenes(*((("supportActingMaster", "true"),) if newer else ()))
    settings = ACTING_MASTER if newer else {}
    master = scene.broker(**settings)
    slave = scene.broker(brokerRole="SLAVE", brokerId="1", **settings)
    scene.everywhere(registered("broker-a", "0", "1"), "master and slave are registered")
    member_group = [(901, {"clusterName": "peers", "brokerName": "broker-a"})] if newer else []
    questions = [(105, {"topic": "SELF_TEST_TOPIC"}), (106, {}), (206, {}), *member_group]
    commands = ["topicRoute -t SELF_TEST_TOPIC", "topicList", "topicClusterList -t SELF_TEST_TOPIC"]

    def alike() -> None:
        scene.answers(*questions)
        scene.admin(*commands)

    alike()
    if newer:
        time.sleep(LEASE + SCAN + 1)
        scene.everywhere(registered("broker-a", "0", "1"), "light heartbeats keep master and slave")
        alike()
    master.kill()
    scene.everywhere(registered("broker-a", "1"), "the slave alone is registered")
    alike()
    master.start_again()
    scene.everywhere(registered("broker-a", "0", "1"), "the master is back")
    alike()
    slave.terminate()
    scene.everywhere(registered("broker-a", "0"), "the slave has left")
    alike()
    master.terminate()
    scene.everywhere(registered("broker-a"), "both are gone")
    alike()
    scene.same()
