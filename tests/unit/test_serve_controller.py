"""The controller beside a NameServer on loopback: its port, its file, and settings that cannot be served."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness.session import connect, free_port
from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from reference_impl.nameserver import Config, ConfigError, ControllerConfig
from reference_impl.serve import run
from reference_impl.serve.nameserver import serve_nameserver

SETTINGS = {
    "enableControllerInNamesrv": "true",
    "controllerDLegerGroup": "group",
    "controllerDLegerSelfId": "n0",
    "listenPort": "0",
}


def ask(port: int, code: RequestCode, ext: dict[str, str | None]) -> Command:
    """What the controller answers to one request."""
    transport, buffer = connect("127.0.0.1", port), FrameBuffer()
    try:
        transport.send(encode(Command(code=code, opaque=1, version=479, ext=ext)))
        while (frame := buffer.next_frame()) is None:
            buffer.feed(transport.receive(10.0))
    finally:
        transport.close("fin")
    return decode(frame)


async def asked(
    settings: dict[str, str], port: int, code: RequestCode, ext: dict[str, str | None]
) -> Command:
    """The answer of a NameServer that is started for one request."""
    ready, stop = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(
        serve_nameserver(config=Config.of(settings), stop=stop, ready=lambda _: ready.set())
    )
    await ready.wait()
    answer = await asyncio.to_thread(ask, port, code, ext)
    stop.set()
    await serving
    return answer


def test_ids_are_kept_in_the_store(tmp_path: Path) -> None:
    port, store = free_port((0,)), tmp_path / "deep" / "store"
    settings = {
        **SETTINGS,
        "controllerDLegerPeers": f"n0-127.0.0.1:{port}",
        "controllerStorePath": str(store),
    }
    ext: dict[str, str | None] = {"clusterName": "c", "brokerName": "b"}
    applied = {**ext, "appliedBrokerId": "1", "registerCheckCode": "10.0.0.1:1;1"}
    taken = asyncio.run(asked(settings, port, RequestCode.CONTROLLER_APPLY_BROKER_ID, applied))
    assert taken.code == ResponseCode.SUCCESS
    following = asyncio.run(asked(settings, port, RequestCode.CONTROLLER_GET_NEXT_BROKER_ID, ext))
    assert (following.ext or {})["nextBrokerId"] == "2"
    assert [path.name for path in store.iterdir()] == ["replicas.json"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "expected one controller, as n0-127.0.0.1:9877 and n0"),
        ({"controllerDLegerPeers": "n1-127.0.0.1:9877"}, "expected one controller"),
        ({"controllerDLegerPeers": "n0-127.0.0.1:1;n1-127.0.0.1:2"}, "a group of several is not built"),
        ({"controllerDLegerPeers": "n0-127.0.0.1:70000"}, "expected one controller"),
        ({"controllerType": "jRaft"}, "controllerType=jRaft: expected DLedger"),
    ],
)
def test_what_cannot_be_served_is_refused(
    settings: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match=said):
        ControllerConfig.of({**SETTINGS, **settings})
    path = tmp_path / "namesrv.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in {**SETTINGS, **settings}.items()))
    assert run(config_file=path) == 3
    assert said in capsys.readouterr().err
