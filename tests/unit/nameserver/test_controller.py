"""The controller where no case comes: what it cannot read, and masters of which nothing was heard."""

from __future__ import annotations

import pytest

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.nameserver import Config, StoredReplicasError, build
from reference_impl.nameserver.controller import Controller
from reference_impl.remoting.reply import Reply

SETTINGS = {
    "enableControllerInNamesrv": "true",
    "controllerDLegerGroup": "group",
    "controllerDLegerSelfId": "n0",
    "controllerDLegerPeers": "n0-127.0.0.1:9877",
}
NAMED = {"clusterName": "c", "brokerName": "b"}


def controller(replicas: bytes | None = None) -> Controller:
    """A controller that begins with what was stored."""
    made = build("5.3", config=Config.of(SETTINGS), replicas=replicas).controller
    assert made is not None
    return made


def ask(one: Controller, code: RequestCode, body: bytes = b"", **ext: str) -> Reply:
    """The answer to a request at the time 0."""
    reply = one.execute(Command(code, ext={**NAMED, **ext}, body=body), 1, 0)
    assert reply is not None
    return reply


def test_names_and_settings_that_cannot_be_read_are_refused() -> None:
    one = controller()
    reply = ask(one, RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, b"{")
    assert reply.code == ResponseCode.SYSTEM_ERROR
    reply = ask(one, RequestCode.UPDATE_CONTROLLER_CONFIG, b"electMasterMaxRetryCount=7\nname=\\u12xy")
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, "string2Properties error")
    assert one.settings.config.elect_master_max_retry_count == 3


@pytest.mark.parametrize("stored", [b"{", b'{"b":7}'])
def test_stored_replicas_that_are_damaged_are_refused(stored: bytes) -> None:
    with pytest.raises(StoredReplicasError):
        controller(stored)


def test_a_stored_master_that_sends_no_heartbeat_is_replaced() -> None:
    before = controller()
    for number in ("1", "2"):
        applied = {"appliedBrokerId": number, "registerCheckCode": f"10.0.0.{number}:1;1"}
        assert ask(before, RequestCode.CONTROLLER_APPLY_BROKER_ID, **applied).code == ResponseCode.SUCCESS
        ask(before, RequestCode.BROKER_HEARTBEAT, brokerId=number)
    assert ask(before, RequestCode.CONTROLLER_ELECT_MASTER, brokerId="2").code == ResponseCode.SUCCESS
    before.replicas.sync(before.replicas.sets["b"], [1, 2])
    one = controller(before.replicas.dump())
    one.look_at_masters(0)
    assert one.replicas.sets["b"].master == 2
    ask(one, RequestCode.BROKER_HEARTBEAT, brokerId="1")
    one.look_at_masters(0)
    assert (one.replicas.sets["b"].master, one.replicas.sets["b"].master_epoch) == (1, 2)
