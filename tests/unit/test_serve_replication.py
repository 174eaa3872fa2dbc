"""Two Brokers on sockets: a slave that starts late copies the log of its master, and goes on after that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.session import connect
from harness.wire import Command, FrameBuffer, decode, encode
from reference_impl.broker import Config, Endpoint
from reference_impl.serve.broker import serve_broker
from reference_impl.serve.problems import StartError
from reference_impl.serve.shell import Shell

WITHIN = 20.0
FILE = 1 << 18
SEND = {
    **dict(zip("abcd", ("group", "BenchmarkTest", "TBW102", "4"), strict=True)),
    **dict(zip("efghijk", ("0", "0", "1700000000000", "0", "", "0", "false"), strict=True)),
}


def send(port: int, count: int) -> None:
    transport, buffer = connect("127.0.0.1", port), FrameBuffer()
    try:
        for number in range(count):
            body = bytes([number % 251]) * 5000
            transport.send(encode(Command(code=310, opaque=number, version=479, ext=SEND, body=body)))
            while (frame := buffer.next_frame()) is None:
                buffer.feed(transport.receive(10.0))
            assert decode(frame).code == 0
    finally:
        transport.close("fin")


def log(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (directory / "commitlog").glob("*")}


@asynccontextmanager
async def served(directory: Path, **settings: object) -> AsyncIterator[int]:
    """The port of a Broker."""
    ready: asyncio.Future[Shell[Endpoint]] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    config = Config(
        listen_port=0,
        store_path_root_dir=str(directory),
        mapped_file_size_commit_log=FILE,
        **settings,  # type: ignore[arg-type]
    )
    task = asyncio.create_task(serve_broker(config=config, stop=stop, ready=ready.set_result))
    await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield ready.result().address[1]
    finally:
        stop.set()
        await task


async def settled(master: Path, slave: Path, files: set[str] | None = None) -> None:
    """Waits until the slave has those files of the master, or all of them."""
    async with asyncio.timeout(WITHIN):
        while not (
            log(slave) and {n: d for n, d in log(master).items() if files is None or n in files} == log(slave)
        ):
            await asyncio.sleep(0.05)


def test_a_slave_copies_the_log_of_its_master(tmp_path: Path) -> None:
    async def run() -> None:
        master, slave = tmp_path / "master", tmp_path / "slave"
        async with served(master) as port:
            await asyncio.to_thread(send, port, 1)
            follows = {"broker_role": "SLAVE", "broker_id": 1, "ha_master_address": f"127.0.0.1:{port + 1}"}
            async with served(slave, **follows):
                await asyncio.to_thread(send, port, 300)
                await settled(master, slave)
            assert len(log(slave)) > 3
            await asyncio.to_thread(send, port, 200)
            async with served(slave, **follows):
                await settled(master, slave)

    asyncio.run(run())


def test_an_empty_slave_begins_with_the_last_file(tmp_path: Path) -> None:
    async def run() -> None:
        master, slave = tmp_path / "master", tmp_path / "slave"
        async with served(master) as port:
            await asyncio.to_thread(send, port, 120)
            follows = {"broker_role": "SLAVE", "broker_id": 1, "ha_master_address": f"127.0.0.1:{port + 1}"}
            async with served(slave, **follows):
                await settled(master, slave, {max(log(master))})

    asyncio.run(run())


@pytest.mark.parametrize("above", [0, 1])
def test_the_replication_port_must_be_free(tmp_path: Path, above: int) -> None:
    async def run() -> None:
        async with served(tmp_path / "one") as port:
            with pytest.raises(StartError, match="cannot listen on"):
                async with served(tmp_path / "two", ha_listen_port=port + above):
                    pass

    asyncio.run(run())
