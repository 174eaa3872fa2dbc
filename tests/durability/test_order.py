"""A file is on disk, under its name, before the answer to what changed it leaves."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from harness.wire import Command, RequestCode, encode
from reference_impl import serve
from reference_impl.nameserver import Config

PUT = RequestCode.PUT_KV_CONFIG


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to files from now on, in its order: `fsync NAME`, `replace NAME NAME`."""
    calls: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(file: int) -> None:
        calls.append(f"fsync {Path(f'/proc/self/fd/{file}').readlink().name}")
        fsync(file)

    def noted_replace(self: Path, target: Path) -> Path:
        calls.append(f"replace {self.name} {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    return calls


def serve_to(tmp_path: Path, done: list[str], *requests: tuple[int, Command]) -> None:
    """Serves these requests, each sent over the connection with that number, all of them at once."""

    async def session() -> None:
        stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        config = Config(
            listen_port=0,
            bind_address="127.0.0.1",
            kv_config_path=str(tmp_path / "kv"),
            config_store_path=str(tmp_path / "settings"),
        )
        serving = asyncio.create_task(
            serve.serve_nameserver(config=config, stop=stop, ready=ready.set_result)
        )
        port = (await ready).address[1]
        streams = {number: await asyncio.open_connection("127.0.0.1", port) for number, _ in requests}
        for number, request in requests:
            streams[number][1].write(encode(request))
        for number, _ in requests:
            length = await streams[number][0].readexactly(4)
            await streams[number][0].readexactly(int.from_bytes(length, "big"))
            done.append("answer")
        stop.set()
        await serving
        for _, writer in streams.values():
            writer.close()

    asyncio.run(session())


def put(value: str) -> Command:
    return Command(code=PUT, ext={"namespace": "n", "key": "k", "value": value})


def test_a_file_is_complete_and_in_place_before_the_answer(tmp_path: Path, done: list[str]) -> None:
    directory = tmp_path.name
    serve_to(tmp_path, done, (1, put("v")))
    assert done == ["fsync .kv.tmp", "replace .kv.tmp kv", f"fsync {directory}", "answer"]


def test_so_is_the_configuration(tmp_path: Path, done: list[str]) -> None:
    serve_to(tmp_path, done, (1, Command(code=RequestCode.UPDATE_NAMESRV_CONFIG, body=b"clusterTest=true")))
    directory = tmp_path.name
    assert done == ["fsync .settings.tmp", "replace .settings.tmp settings", f"fsync {directory}", "answer"]


def test_what_comes_together_is_written_once(tmp_path: Path, done: list[str]) -> None:
    requests = [(connection, put(str(number))) for number in range(10) for connection in range(8)]
    serve_to(tmp_path, done, *requests)
    assert done.count("answer") == len(requests)
    assert done.count("replace .kv.tmp kv") < 8
    assert done.index("answer") > done.index("replace .kv.tmp kv")
