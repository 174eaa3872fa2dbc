"""Apache's own Broker and `mqadmin`, and what is asked of several NameServers side by side.

What differs between two NameServers for reasons of their place and not of the protocol is taken out by the
rules in ``NORMALISED`` and in ``Answer``, and by nothing else.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.session import connect
from harness.targets import maven
from harness.targets.probed_broker import PORTS
from harness.targets.process import Command as Process
from harness.targets.process import ProcessInstance
from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.fastjson import parse

FIXTURES = Path(__file__).parents[2] / "fixtures"
COMMAND_WITHIN = 60.0
ENDS_WITHIN = 60.0
SETTLES_WITHIN = 40.0
LOGBACK = '<configuration><root level="OFF"/></configuration>'
JVM = (
    *("-Xms64m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *("--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"),
    *("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED"),
    *("--add-opens", "java.base/jdk.internal.ref=ALL-UNNAMED"),
    "-Dtls.server.mode=disabled",  # to make a certificate takes longer than the rest of a start
)

STRAY_REMARK = {901: "not set any response code"}
"""By code: `quirk.member-group-carries-a-stray-remark`."""


def home(directory: Path) -> Path:
    """A home of RocketMQ for programs of 4.9, which do not start without these files."""
    (directory / "conf").mkdir(parents=True, exist_ok=True)
    for program in ("broker", "tools"):
        (directory / "conf" / f"logback_{program}.xml").write_text(LOGBACK)
    return directory


class Admin:
    """`mqadmin` of a release; its JVM lives on between commands."""

    def __init__(self, version: str, directory: Path) -> None:
        classpath = maven.classpath(version, ["rocketmq-tools"])
        self._process = subprocess.Popen(
            [
                *("java", *JVM[:5], f"-Duser.home={directory}", f"-Drocketmq.home.dir={home(directory)}"),
                *("-cp", classpath, str(FIXTURES / "java" / "AdminShell.java")),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(directory / "stderr.log").open("w"),
        )

    def run(self, address: str, command: str) -> str:
        """What a command (words by blanks) writes, asked of the NameServer at an address."""
        assert self._process.stdin is not None
        self._process.stdin.write("\t".join([*command.split(), "-n", address]).encode() + b"\n")
        self._process.stdin.flush()
        end = time.monotonic() + COMMAND_WITHIN
        size = b""
        while not size.endswith(b"\n"):
            size += self._read(1, end, command)
        return self._read(int(size), end, command).decode()

    def _read(self, count: int, end: float, command: str) -> bytes:
        assert self._process.stdout is not None
        descriptor, found = self._process.stdout.fileno(), b""
        while len(found) < count:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"mqadmin {command}: no answer within {COMMAND_WITHIN:g} s"
            piece = os.read(descriptor, count - len(found))
            assert piece, f"mqadmin {command}: the JVM has ended"
            found += piece
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Broker:
    """Apache's Broker of a release, registered with several NameServers.

    A setting with a slash in its name is no setting, but the text of this file in its home.
    """

    def __init__(self, version: str, name_servers: Sequence[str], **settings: str) -> None:
        classpath = maven.classpath(version, ["rocketmq-broker"])
        java = shutil.which("java") or "java"

        def arguments(port: int, directory: Path) -> list[str]:
            home(directory)
            for name, text in settings.items():
                if "/" in name:
                    (directory / name).write_text(text)
            lines = {
                "brokerClusterName": "peers",
                "brokerName": "broker-a",
                "brokerIP1": "127.0.0.1",
                "brokerIP2": "127.0.0.1",
                "listenPort": str(port),
                "haListenPort": str(port + 1),
                "namesrvAddr": ";".join(name_servers),
                "storePathRootDir": str(directory / "store"),
                "storePathCommitLog": str(directory / "store" / "commitlog"),
                "mapedFileSizeCommitLog": str(1 << 24),  # so spelt until 4.x
                "mappedFileSizeCommitLog": str(1 << 24),
                "timerWheelEnable": "false",
                "diskMaxUsedSpaceRatio": "99",
                "registerNameServerPeriod": "10000",
                **{name: one for name, one in settings.items() if "/" not in name},
            }
            config = directory / "broker.conf"
            config.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
            main = "org.apache.rocketmq.broker.BrokerStartup"
            return [java, *JVM, f"-Duser.home={directory}", "-cp", classpath, main, "-c", str(config)]

        self._instance = ProcessInstance(
            Process(
                name=f"Apache's Broker {version}",
                description=f"Apache Broker {version}",
                arguments=arguments,
                environment=lambda directory: {"ROCKETMQ_HOME": str(directory)},
                warp=1,
                start_within=120.0,
                answer_within=60.0,
                must_answer=True,
                ports=PORTS,
            )
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._instance.port}"

    @property
    def pid(self) -> int:
        return self._instance.pid

    def file(self, name: str) -> str:
        """A file in its home."""
        return Path(f"/proc/{self.pid}/cwd/{name}").read_text()

    @property
    def log_files(self) -> dict[str, bytes]:
        """The files of its commit log, by name."""
        return {path.name: path.read_bytes() for path in self.log_paths}

    @property
    def log_paths(self) -> list[Path]:
        """Where the files of its commit log are, in their order."""
        return sorted(Path(f"/proc/{self.pid}/cwd/store/commitlog").iterdir())

    def terminate(self) -> None:
        """SIGTERM: it takes its leave of the NameServers."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL: its connections end, and nothing is said."""
        self._signal(signal.SIGKILL)

    def start_again(self) -> None:
        """At the same address, with what it has stored."""
        self._instance.restart()

    def stop(self) -> None:
        self._instance.stop()

    def _signal(self, number: int) -> None:
        pid = self.pid
        os.kill(pid, number)
        end = time.monotonic() + ENDS_WITHIN
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < end, f"the Broker has not ended {ENDS_WITHIN:g} s after signal {number}"
            time.sleep(0.05)


class Answer(msgspec.Struct, frozen=True):
    """A reply as far as two NameServers can agree on it: lists and members of a body are in no order, and
    what is a quirk of Apache's (``specs/targets``) is taken out.
    """

    code: int
    remark: str | None
    ext: dict[str, Any]
    body: Any


def ask(address: str, code: int, version: int, **ext: str) -> Answer:
    """What a NameServer replies to one request on a connection of its own."""
    host, _, port = address.rpartition(":")
    transport = connect(host, int(port))
    buffer = FrameBuffer()
    try:
        transport.send(encode(Command(code=code, opaque=7, version=version, ext=ext)))
        while (frame := buffer.next_frame()) is None:
            buffer.feed(transport.receive(5.0))
    finally:
        transport.close("fin")
    reply = decode(frame)
    remark = None if reply.remark == STRAY_REMARK.get(code) else reply.remark
    return Answer(reply.code, remark, dict(reply.ext or {}), _in_order(_value(reply.body)))


def _value(body: bytes) -> Any:
    return parse(body) if body[:1] in (b"{", b"[") else body.decode()


def _in_order(value: Any) -> Any:
    """Lists and members sorted: Apache keeps what they hold in hash tables."""
    if isinstance(value, Mapping):
        return {str(key): _in_order(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return sorted((_in_order(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    return value


def settled(condition: Callable[[], bool], what: str, *, within: float = SETTLES_WITHIN) -> None:
    """Waits until something has come about. ``within``: seconds."""
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, f"not within {within:g} s: {what}"
        time.sleep(0.1)


# --- what `mqadmin` writes, without what differs for reasons of place ---


def without_places(text: str, address: str, directory: str) -> str:
    """The NameServer's own address, port, directory and configuration file."""
    port = address.rpartition(":")[2]
    text = text.replace(directory, "<directory>").replace(address, "<NameServer>")
    text = re.sub(r"<directory>/(namesrv|settings)\.properties", "<configuration>", text)
    return re.sub(rf"\b{port}\b", "<port>", text)


def without_moments(text: str) -> str:
    """Points in time, and what a Broker counts while it is looked at."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d+)?", "<time>", text)
    return re.sub(r"(?<![\d.])\d+\.\d+(?![\d.])(\([^)]*\))?", "<measure>", text)


def in_order(text: str) -> str:
    """Lines sorted, and lists in JSON: Apache keeps them in hash tables."""
    with_json = text[text.find("{") :] if "{" in text else ""
    try:
        return text[: text.find("{")] + json.dumps(_in_order(json.loads(with_json)), indent=1, sort_keys=True)
    except ValueError:
        return "\n".join(sorted(text.splitlines()))


NORMALISED: tuple[Callable[..., str], ...] = (without_places, without_moments, in_order)
