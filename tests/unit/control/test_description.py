"""Every operation of the description is called, and answers as it says; every route is described."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
from unit.control.port import JSON, Answer, Port
from unit.testing.client import Client

from harness.catalogue import specs_directory
from harness.control.openapi import FOLDER, PATH
from harness.control.operations import OPERATIONS
from harness.testing import RocketMQ
from harness.testing.faults import Faults
from harness.trace import read_trace

FILE = Path(specs_directory()) / "rendered" / FOLDER / PATH.strip("/")
DESCRIPTION = json.loads(FILE.read_text(encoding="utf-8"))
HALF = 4
_NOT_OFFERED = {
    "start": "the port is there while the cluster is",
    "stop": "so is the end of the process",
    "call": "it is for faults",
    "assert_idempotent": "the state is the application's: deliver_again and assert_consumed are its parts",
}


def described() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for path, by_method in DESCRIPTION["paths"].items():
        for method, operation in by_method.items():
            yield operation["operationId"], method.upper(), path, operation


BY_ID = {identifier: (method, path, operation) for identifier, method, path, operation in described()}


def validate(schema: Any, value: Any) -> None:
    jsonschema_rs.validate({**schema, "components": DESCRIPTION["components"]}, value)


class Caller:
    """Calls operations by their id, and judges each answer by the description."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.called: set[str] = set()

    def __call__(self, identifier: str, **given: Any) -> Any:
        method, path, operation = BY_ID[identifier]
        self.called.add(identifier)
        if method == "GET":
            known = {one["name"]: one for one in operation.get("parameters", ())}
            assert set(given) <= set(known)
            assert {name for name, one in known.items() if one["required"]} <= set(given)
            answer = self.port.ask("GET", f"{path}?{urlencode(given)}")
        else:
            if "requestBody" in operation:
                validate(operation["requestBody"]["content"][JSON]["schema"], given)
            answer = self.port.ask("POST", path, json.dumps(given).encode(), {"Content-Type": JSON})
        return self._judged(operation, answer)

    def _judged(self, operation: Any, answer: Answer) -> Any:
        assert answer.status in (200, 204), answer.problem
        told = operation["responses"][str(answer.status)]
        if answer.status == 204:
            assert answer.body == b""
            return None
        (media_type,) = told["content"]
        assert answer.media_type == media_type
        if media_type != JSON:
            return answer.body
        validate(told["content"][JSON]["schema"], answer.json)
        return answer.json


def test_every_operation_answers_as_it_is_described(port: Port, tmp_path: Path) -> None:
    call = Caller(port)
    namesrv = call("about")["namesrv"]
    assert call("topic", name="orders", queues=2) == "orders"
    assert call("group", name="billing", retries=1) == "billing"
    with Client(namesrv, "billing", "orders") as client:
        for number in range(2):
            sent = call("send", topic="orders", body={"number": number}, keys=["a", "b"], sharding="x")
        assert sent["offset"] == 1
        call("send", topic="orders", body="late", delay="1h")
        assert [one["why"] for one in call("pending", topic="orders")] == ["delay"]
        found = call("wait_for", topic="orders", count=1, where={"text": '{"number":1}', "key": "b"})
        assert found == call("messages", topic="orders")[1:]
        (first, _) = client.consume()
        assert [one["text"] for one in call("consumed", group="billing")] == ['{"number":0}', '{"number":1}']
        assert (call("lag", group="billing"), len(call("progress", group="billing"))) == (0, 3)
        call("assert_consumed", topic="orders", group="billing", timeout="1s")
        call("assert_in_order", topic="orders", handled=['{"number":0}', '{"number":1}'], by="text")
        client.give_back(first, -1)
        assert call("dead_letters", group="billing")[0]["keys"] == ["a", "b"]
        client.send("orders", b"perhaps", HALF, TRAN_MSG="true", PGROUP="billing", UNIQ_KEY="half")
        (open_one,) = call("transactions", topic="orders")
        assert (open_one["id"], open_one["transaction"]) == ("half", "open")
        call("assert_only_committed", topic="orders", handled=["another"], by="id")
        assert [one["id"] for one in call("clients")] == ["client-of-billing"]
        later = threading.Timer(0.1, client.consume)
        later.start()
        call("deliver_again", topic="orders", group="billing")
        later.join()
        assert call("requests", code="SEND_MESSAGE")[0]["answer"]["name"] == "SUCCESS"
        broken = {one["statement"] for one in call("client_remarks")}
        call("assert_no_client_remarks", allow=sorted(broken))
        (tmp_path / "a.trace").write_bytes(call("trace", server="broker-a-0"))
        assert len(read_trace(tmp_path / "a.trace").events) > 10
        _faults(call, client)
    before = call("now")
    call("freeze")
    assert call("speed") == 0
    call("set_speed", speed=2.5)
    assert call("speed") == 2.5
    call("advance", duration="1h", reaction=0, silent_clients=True)
    assert call("now") > before
    for how in ("stop", "kill", "pause"):
        call(f"{how}_broker", name="broker-a")
        call("start_broker", name="broker-a")
    for how in ("stop", "pause"):
        call(f"{how}_nameserver", number=1)
        call("start_nameserver", number=1)
    call("pause_broker", name="broker-a")
    call("bring_back")
    call("reset")
    assert call("openapi") == DESCRIPTION
    assert call.called == set(BY_ID)


def _faults(call: Caller, client: Client) -> None:
    more: dict[str, dict[str, Any]] = {
        "answer_late": {"seconds": 0.1},
        "damage_reply": {"damages": [{"is": "cut", "keep": 20}]},
        "rebalance": {"group": "billing"},
        "stale_route": {"topic": "orders"},
        "chaos": {"seed": 7},
        "reset_client": {"client": "another"},
    }
    for identifier in BY_ID:
        name = identifier.removeprefix("fault_")
        if name in vars(Faults):
            begun = call(identifier, **more.get(name, {"topic": "another"}))
            if name != "reset_client":
                assert (begun["met"], call("fault")[-1]) == ([], begun)
                call("fault_stop", id=begun["id"])
    refused = call("fault_refuse", answer=7, code=["send", 15], group="billing", times=1)
    assert client.send("orders", b"once").code == 7
    (met,) = call("fault_wait", id=refused["id"])["met"]
    assert (met["code"], met["topics"]) == (10, ["orders"])
    assert call("fault_end", id=refused["id"])["met"] == [met]
    assert call("fault") == []


def test_every_route_is_described() -> None:
    routes = {(one.method, one.path) for one in OPERATIONS} | {("GET", PATH)}
    assert {(method, path) for _, method, path, _ in described()} == routes
    assert len(BY_ID) == len(routes)


def test_every_method_of_a_rocketmq_is_an_operation() -> None:
    offered = {one.name for one in OPERATIONS}
    methods = {
        name
        for name, value in inspect.getmembers(RocketMQ)
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }
    left = methods - offered - set(_NOT_OFFERED) - {"namesrv"}
    assert left == set(), "offer them, or say why not"
    assert not set(_NOT_OFFERED) & offered


@pytest.mark.parametrize("status", [400, 403, 404, 405, 408, 409, 413, 415, 422, 500, 503])
def test_problems_are_described(status: int) -> None:
    response = DESCRIPTION["components"]["responses"][str(status)]
    assert list(response["content"]) == ["application/problem+json"]


def test_the_description_is_whole() -> None:
    """Every reference leads somewhere, and every operation has words and a success."""
    text = json.dumps(DESCRIPTION)
    for kind, known in DESCRIPTION["components"].items():
        used = {part.split('"')[0] for part in text.split(f'"$ref": "#/components/{kind}/')[1:]}
        assert used == set(known) or kind == "responses"
        assert used <= set(known)
    for _, _, _, operation in described():
        assert operation["summary"]
        assert operation["description"]
        assert {"200", "204"} & set(operation["responses"])
