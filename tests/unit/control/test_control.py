"""What a test in another language sees: messages, waits, faults and time, as `harness.testing` has them."""

from __future__ import annotations

import threading
from base64 import b64encode
from pathlib import Path

from unit.control.port import Port, Process
from unit.testing.client import Client

from harness.control.app import MOST
from harness.wire import ResponseCode


def test_bytes_go_to_and_fro_in_base64(port: Port) -> None:
    port.post("/topic", name="orders")
    body = b"\x00\xff\x80"
    port.post("/send", topic="orders", body=b64encode(body).decode(), base64=True, properties={"a": "ü"})
    (message,) = port.get("/messages", topic="orders")
    assert (message["body"], message["text"], message["properties"]["a"]) == (
        b64encode(body).decode(),
        None,
        "ü",
    )
    assert port.refused("/send", topic="orders", body="é", base64=True).startswith(
        "argument: body: with base64 expected a text in base64"
    )


def test_a_wait_returns_what_comes_meanwhile(port: Port) -> None:
    port.post("/topic", name="orders")
    late = threading.Timer(0.1, lambda: port.post("/send", topic="orders", body="b", tags="red"))
    port.post("/send", topic="orders", body="a", tags="blue")
    late.start()
    (message,) = port.post("/wait_for", topic="orders", where={"tags": "red"}, timeout="60s")
    late.join()
    assert message["text"] == "b"


def test_a_wait_in_vain_says_what_came_instead(port: Port) -> None:
    port.post("/topic", name="orders")
    port.post("/send", topic="orders", body="a book", delay="2h")
    problem = port.refused("/wait_for", topic="orders", timeout="10ms")
    assert problem.startswith("not-met: 0 of 1 messages came to 'orders' within 0.01 s\nthese were sent, and")
    assert "timeout='2h': expected 10m at most" in port.refused("/wait_for", topic="orders", timeout="2h")


def test_a_fault_is_met_and_one_that_is_not_is_a_problem(port: Port) -> None:
    port.post("/topic", name="orders")
    busy = port.post("/fault/refuse", answer="SYSTEM_BUSY", code="send", topic="orders", times=2)
    with Client(port.get("/")["namesrv"], "shop", "orders") as client:
        assert client.send("orders", b"x").code == ResponseCode.SYSTEM_BUSY
        assert port.refused("/fault/end", id=busy["id"]).startswith("not-met: refuse(answer='SYSTEM_BUSY', ")
        assert client.send("orders", b"x").code == ResponseCode.SUCCESS
    assert "expected a fault that has begun and was not ended" in port.refused("/fault/end", id=busy["id"])


def test_reset_ends_faults_and_brings_servers_back(port: Port) -> None:
    port.post("/topic", name="orders")
    port.post("/stop_broker", name="broker-a")
    port.post("/fault/lose_reply", code="send")
    assert [one["serves"] for one in port.get("/")["servers"]] == [True, True, False]
    assert port.refused("/reset").startswith("not-met: lose_reply(code='send') was met by 0 requests")
    assert all(one["serves"] for one in port.get("/")["servers"])
    assert port.get("/fault") == []
    assert "topic 'orders' does not exist" in port.refused("/send", topic="orders", body="x")


def test_what_the_cluster_cannot_do_now_is_a_problem_of_its_own(port: Port) -> None:
    port.post("/pause_broker", name="broker-a")
    assert port.refused("/topic", name="orders").startswith("not-possible: broker-a-0 is stopped or paused")


def test_an_hour_passes_at_once(port: Port) -> None:
    port.post("/topic", name="orders")
    port.post("/send", topic="orders", body="pay", delay="1h")
    port.post("/advance", duration="59m")
    assert port.get("/messages", topic="orders") == []
    port.post("/advance", duration="2m")
    assert [one["text"] for one in port.get("/messages", topic="orders")] == ["pay"]


def test_too_many_waits_are_refused_and_the_others_end_with_the_cluster(tmp_path: Path) -> None:
    process = Process("--control", "0", directory=tmp_path)
    port = process.port
    port.post("/topic", name="orders")
    problems: list[str] = []
    answered = threading.Semaphore(0)

    def wait() -> None:
        problems.append(port.refused("/wait_for", topic="orders", timeout="10m"))
        answered.release()

    waiting = [threading.Thread(target=wait, daemon=True) for _ in range(MOST + 5)]
    for one in waiting:
        one.start()
    for _ in range(5):
        answered.acquire()
    assert all(one.startswith(f"busy: {MOST} requests wait") for one in problems)
    assert process.end() == (0, "")
    for one in waiting:
        one.join()
    assert len(problems) == MOST + 5
    assert all(one.startswith("not-possible: RocketMQ: it ") for one in problems[5:])
