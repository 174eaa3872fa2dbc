"""Who sends which request in ordinary work: real peers behind proxies that look at what passes.

A Broker has a proxy of its own to the NameServer; everybody else works one after the other, so that it is
known whose request comes by the other proxies. Clients come to a Broker through a proxy because the address
that it registers is replaced, on its way to the NameServer, by one of the same length.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from clusters import HASTE, PATIENCE, apache_nameserver, clients
from peers import FIXTURES, JVM, Admin, Broker, ask, settled
from test_cpp_client import sent_and_consumed

from harness.catalogue import Role
from harness.targets import maven
from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, FrameBuffer, RequestCode, WireError, decode

MESSAGES = 40
CLIENTS_WITHIN = 240.0
FAST = 2
"""How far below a Broker's port its fast one is (`MixAll#brokerVIPChannel`)."""
SYNCHRONISED = {RequestCode.GET_ALL_TOPIC_CONFIG, RequestCode.GET_ALL_CONSUMER_OFFSET}
"""Of what a slave asks its master."""
SLAVE_ASKS_WITHIN = 120.0
"""Seconds; one of 5.x first asks after a minute (`BrokerController#handleSlaveSynchronize`)."""
ASKING_FIRST = {"forceRegister": "false", "registerNameServerPeriod": "10000"}
"""Asks a NameServer with 322 before it registers again."""
OF_5 = {
    "enableSlaveActingMaster": "true",  # sends 904, and asks for its group with 901
    "compatibleWithOldNameSrv": "false",
    "enableSingleTopicRegister": "true",  # tells the NameServer of a new topic with 217
    "timerWheelEnable": "true",  # without it every pop is refused
}
"""Settings that Brokers of 5.x have."""
ADMIN = (
    "topicList",
    "topicList -c",
    "updateTopic -b {broker} -t Made -r 3 -w 2 -p 6",
    "topicStatus -t Made",
    "topicRoute -t Made",
    "topicClusterList -t Made",
    "allocateMQ -t Made -i 10.0.0.1",
    "updateOrderConf -t Made -m put -v broker-a:4",
    "updateOrderConf -t Made -m get",
    "updateOrderConf -t Made -m delete",
    "updateKvConfig -s peers -k key -v value",
    "deleteKvConfig -s peers -k key",
    "getNamesrvConfig",
    "updateNamesrvConfig -k productEnvName -v peers",
    "wipeWritePerm -b broker-a",
    "addWritePerm -b broker-a",
    "clusterList",
    "clusterList -m",
    "brokerStatus -b {broker}",
    "getBrokerConfig -b {broker}",
    "updateBrokerConfig -b {broker} -k brokerPermission -v 6",
    "updateSubGroup -b {broker} -g Group",
    "consumerProgress",
    "consumerProgress -g G-plain-usage",
    "consumerConnection -g G-plain-usage",
    "producerConnection -g P-plain-usage -t T-plain-usage",
    "printMsg -t T-plain-usage",
    "queryMsgByKey -t T-plain-usage -k key",
    "resetOffsetByTime -g G-plain-usage -t T-plain-usage -s now",
    "brokerConsumeStats -b {broker}",
    "statsAll",
    "cleanExpiredCQ -b {broker}",
    "cleanUnusedTopic -b {broker}",
    "deleteSubGroup -b {broker} -g Group",
    "deleteTopic -c peers -t Made",
)
"""What operators do: each is run whether or not it succeeds."""

Seen = dict[Role, dict[int, set[str]]]
"""Role -> code -> the peers that sent it."""


class Traffic(NamedTuple):
    """All requests, and those that were sent one-way."""

    requests: Seen
    one_way: Seen


class Taps:
    """Proxies, and what has passed them by who is at work."""

    def __init__(self) -> None:
        self.seen: Seen = {"nameserver": {}, "broker": {}}
        self.one_way: Seen = {"nameserver": {}, "broker": {}}
        self.at_work = "broker"
        self.replaced: dict[bytes, bytes] = {}
        """What Brokers say to the NameServer, and what it hears instead."""
        self._lock = threading.Lock()
        self._listening: list[socket.socket] = []

    def of_nameserver(self, address: str, *, of_broker: bool = False) -> str:
        """The address of a new proxy to a NameServer."""
        server = socket.create_server(("127.0.0.1", 0))
        self._serve(server, "nameserver", address, of_broker)
        return f"127.0.0.1:{server.getsockname()[1]}"

    def of_master(self, address: str) -> str:
        """The address of a new proxy to a Broker, and to its fast port, and by which it is registered."""
        host, _, port = address.rpartition(":")
        for chosen in range(int(port) + 100, int(port) + 1000):
            with contextlib.suppress(OSError):
                made = [socket.create_server(("127.0.0.1", chosen - below)) for below in (0, FAST)]
                for server, below in zip(made, (0, FAST), strict=True):
                    self._serve(server, "broker", f"{host}:{int(port) - below}", False)
                shown = f"127.0.0.1:{chosen}"
                assert len(shown) == len(address), "a port of as many digits"
                self.replaced[address.encode()] = shown.encode()
                return shown
        raise AssertionError(f"no two free ports near {port}")

    def _serve(self, server: socket.socket, role: Role, upstream: str, of_broker: bool) -> None:
        self._listening.append(server)

        def accept() -> None:
            with contextlib.suppress(OSError):  # it has been closed
                while True:
                    self._join(server.accept()[0], role, upstream, of_broker)

        threading.Thread(target=accept, daemon=True).start()

    def close(self) -> None:
        for one in self._listening:
            one.close()

    def _join(self, client: socket.socket, role: Role, upstream: str, of_broker: bool) -> None:
        """Forwards a connection in both directions."""
        host, _, port = upstream.rpartition(":")
        try:
            server = socket.create_connection((host, int(port)))
        except OSError:
            client.close()
            return
        peer = "broker" if of_broker else self.at_work
        for source, sink, of in ((client, server, peer), (server, client, "")):
            threading.Thread(target=self._forward, args=(source, sink, role, of), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, role: Role, peer: str) -> None:
        buffer = FrameBuffer()
        with contextlib.suppress(OSError, WireError):
            while data := source.recv(65536):
                if not peer:
                    sink.sendall(data)
                    continue
                buffer.feed(data)
                while (frame := buffer.next_frame()) is not None:
                    self._look(frame, role, peer)
                    for old, new in self.replaced.items() if (role, peer) == ("nameserver", "broker") else ():
                        frame = frame.replace(old, new)
                    sink.sendall(frame)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _look(self, frame: bytes, role: Role, peer: str) -> None:
        command = decode(frame)
        if not command.flag & FLAG_RESPONSE:
            with self._lock:
                self.seen[role].setdefault(command.code, set()).add(peer)
                if command.flag & FLAG_ONEWAY:
                    self.one_way[role].setdefault(command.code, set()).add(peer)


def recorded(version: str, directory: Path) -> Traffic:
    """What Apache's Brokers, clients and `mqadmin` and the C++ client send to a cluster of a release.

    It has a master, and a slave that follows it and goes before clients come.
    """
    settings = {} if version.startswith("4.") else OF_5
    taps = Taps()
    with contextlib.ExitStack() as using:
        using.callback(taps.close)
        real = using.enter_context(apache_nameserver(version))
        front, back = taps.of_nameserver(real), taps.of_nameserver(real, of_broker=True)
        master = Broker(version, [back], **HASTE, **PATIENCE, **settings)
        using.callback(master.stop)
        shown = taps.of_master(master.address)
        settled(lambda: _brokers(real).get("0") == shown, "the master is registered by the proxy's address")
        slave = Broker(version, [back], brokerRole="SLAVE", brokerId="1", **ASKING_FIRST, **settings)
        using.callback(slave.stop)
        settled(lambda: set(_brokers(real)) == {"0", "1"}, "the slave is registered")
        settled(
            lambda: taps.seen["broker"].keys() >= SYNCHRONISED,
            "the slave asks its master",
            within=SLAVE_ASKS_WITHIN,
        )
        settled(
            lambda: RequestCode.QUERY_DATA_VERSION in taps.seen["nameserver"],
            "the slave asks the NameServer before it registers again",
            within=SLAVE_ASKS_WITHIN,
        )
        slave.terminate()
        taps.at_work = "client-java"
        found = clients(version, front, MESSAGES, "usage", directory)
        assert found["plain"]["lost"] == 0, found
        taps.at_work = "mqadmin"
        with contextlib.closing(Admin(version, directory)) as admin:
            admin.run(front, "setConsumeMode -c peers -t T-plain-usage -g G-pop-usage -m POP -q 8")
        taps.at_work = "client-java"
        _other_clients(version, front, directory)
        taps.at_work = "client-cpp"
        (directory / "cpp").mkdir()
        sent_and_consumed(front, directory / "cpp", MESSAGES)
        taps.at_work = "mqadmin"
        with contextlib.closing(Admin(version, directory)) as admin:
            for command in ADMIN:
                admin.run(front, command.format(broker=shown))
        master.terminate()
    return Traffic(taps.seen, taps.one_way)


def _other_clients(version: str, nameserver: str, directory: Path) -> None:
    """What Apache's clients can do beside sending and consuming."""
    program = str(FIXTURES / "java" / "OtherClients.java")
    jars = maven.classpath(version, ["rocketmq-tools"])
    home = f"-Duser.home={directory}"
    done = subprocess.run(
        ["java", *JVM[:4], home, "-cp", jars, program, nameserver, "usage", "T-plain-usage"],
        stderr=subprocess.PIPE,
        text=True,
        timeout=CLIENTS_WITHIN,
        check=True,
    )
    failed = [line for line in done.stderr.splitlines() if re.match(r"(seek|start|ask|pop)\b.*: ", line)]
    # Clients of 4.9 cannot pop; an answer to one that the Broker has not heard of yet is lost.
    unknown = [one for one in failed if not re.search(r"^pop: .*NoSuchMethod|^ask: .*RequestTimeout", one)]
    assert not unknown, unknown


def _brokers(nameserver: str) -> dict[str, str]:
    table = ask(nameserver, 106, 479).body["brokerAddrTable"]
    found: dict[str, str] = table.get("broker-a", {"brokerAddrs": {}})["brokerAddrs"]
    return found
