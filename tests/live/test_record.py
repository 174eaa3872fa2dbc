"""What a Broker of Apache's says to a NameServer: recorded, captured, and told alike, command by command; by
Wireshark too, where it is installed. Every body fits its JSON Schema.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tshark
from peers import Broker, ask, settled
from schemas import misfits

from harness.targets import parse
from harness.targets.process import ProcessInstance

pytestmark = pytest.mark.live

PROGRAM = str(Path(sys.executable).with_name("rmq-harness"))


def decoded(file: Path, *options: str) -> list[dict[str, Any]]:
    said = subprocess.run([PROGRAM, "decode", str(file), *options, "--json"], capture_output=True, check=True)
    return [msgspec.json.decode(line) for line in said.stdout.splitlines()]


def exchanges(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """By connection, for connections are captured side by side."""
    told = [one for one in lines if one["kind"] == "command"]
    return sorted((one["connection"], one["start"], one["by"], one["name"], one["opaque"]) for one in told)


@pytest.fixture
def server() -> Iterator[ProcessInstance]:
    instance = parse("apache:5.3.3").another()
    assert isinstance(instance, ProcessInstance)
    yield instance
    instance.stop()


def test_a_registering_broker(server: ProcessInstance, tmp_path: Path) -> None:
    recording = subprocess.Popen(
        [PROGRAM, "record", "0", f"127.0.0.1:{server.port}", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert recording.stderr is not None
    address = recording.stderr.readline().partition(";")[0].rpartition(" ")[2]
    tcpdump = None
    if shutil.which("tcpdump"):
        # A slot of its buffer holds 64 KiB on loopback: the default of 2 MiB loses packets on a busy machine.
        command = ["tcpdump", "-i", "lo", "-U", "--immediate-mode", "-B", "65536"]
        command += ["-w", str(tmp_path / "tcpdump.pcap")]
        tcpdump = subprocess.Popen([*command, "port", address.rpartition(":")[2]], stderr=subprocess.PIPE)
        assert tcpdump.stderr is not None
        tcpdump.stderr.readline()
    broker = Broker("5.3.3", [address])
    try:
        settled(
            lambda: ask(address, 105, 479, topic="SELF_TEST_TOPIC").code == 0,
            "the topic of the Broker is routed",
        )
        broker.terminate()
        settled(lambda: ask(address, 105, 479, topic="SELF_TEST_TOPIC").code == 17, "the Broker is gone")
    finally:
        broker.stop()
        recording.send_signal(signal.SIGTERM)
        assert recording.wait(20) == 130
        if tcpdump is not None:
            time.sleep(1)  # what the kernel still holds back
            tcpdump.terminate()
            _, said = tcpdump.communicate(timeout=20)
            assert b"\n0 packets dropped by kernel" in said, said
    captured = decoded(tmp_path / "recorded.pcap")
    names = {one["name"] for one in captured if one["kind"] == "command"}
    assert {"REGISTER_BROKER", "GET_ROUTEINFO_BY_TOPIC", "UNREGISTER_BROKER"} <= names
    registered = {
        topic["topicName"]
        for one in captured
        if one.get("name") == "REGISTER_BROKER" and one["body"] is not None
        for topic in one["body"]["topics"].values()
    }
    assert {"SELF_TEST_TOPIC", "TBW102", "broker-a"} <= registered
    totals = captured[-1]
    assert (totals["fatal"], totals["missing"], totals["skipped"], totals["unanswered"]) == (0, 0, 0, [])
    assert exchanges(captured) == exchanges(decoded(tmp_path / "recorded.trace"))
    seen: set[str] = set()
    assert list(misfits(tshark.commands_of(tmp_path / "recorded.pcap"), seen)) == []
    assert {"RegisterBrokerBody", "TopicRouteData"} <= seen
    captures = [tmp_path / "recorded.pcap"] + ([] if tcpdump is None else [tmp_path / "tcpdump.pcap"])
    if shutil.which("tshark"):
        for capture in captures:
            assert tshark.dissected(capture, *tshark.FIRST_BYTES_FIRST) == tshark.decoded(capture)
    if tcpdump is None:
        pytest.skip("compared with its trace alone: tcpdump is not installed (Debian: apt install tcpdump)")
    assert exchanges(captured) == exchanges(decoded(tmp_path / "tcpdump.pcap"))
