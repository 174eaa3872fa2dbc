"""How a server ends in a process that goes on."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from harness.wire import Command, FrameBuffer, ResponseCode, decode, encode
from reference_impl.broker import Config as BrokerConfig
from reference_impl.nameserver.config import Config
from reference_impl.serve.broker import serve_broker
from reference_impl.serve.connection import Connection
from reference_impl.serve.nameserver import serve_nameserver
from reference_impl.serve.shell import Shell

SENDS = 2000
SEND = {"a": "PG", "b": "BenchmarkTest", "c": "TBW102", "d": "4"} | dict.fromkeys("efghj", "0")


def test_a_broker_that_stops_answers_what_has_arrived() -> None:
    async def run() -> set[int]:
        shells: asyncio.Future[Shell[Any]] = asyncio.get_running_loop().create_future()
        stop, buffer, answered = asyncio.Event(), FrameBuffer(), set[int]()
        config = BrokerConfig(listen_port=0)
        serving = asyncio.create_task(serve_broker(config=config, stop=stop, ready=shells.set_result))
        shell = await shells
        reader, writer = await asyncio.open_connection(*shell.address)
        try:
            for number in range(SENDS):
                sent = Command(code=310, opaque=number, version=479, ext=SEND, body=b"hello")
                writer.write(encode(sent))
            assert not writer.transport.get_write_buffer_size()  # all of it has arrived
            stop.set()
            async with asyncio.timeout(10):
                with suppress(ConnectionResetError):
                    while data := await reader.read(65_536):
                        buffer.feed(data)
                await serving
        finally:
            writer.close()
        while (frame := buffer.next_frame()) is not None:
            answer = decode(frame)
            assert answer.code in (ResponseCode.SUCCESS, ResponseCode.GO_AWAY)
            answered.add(answer.opaque)
        return answered

    assert asyncio.run(run()) == set(range(SENDS))


def test_a_connection_that_is_accepted_while_the_server_ends_is_ended() -> None:
    async def run() -> bytes:
        shells: list[Shell[Any]] = []
        stop = asyncio.Event()

        def ready(shell: Shell[Any]) -> None:
            shells.append(shell)
            stop.set()

        await serve_nameserver(config=Config(listen_port=0), stop=stop, ready=ready)
        here, there = socket.socketpair()
        with here, there:
            there.setblocking(False)
            greeting = lambda *_: []  # noqa: E731 - it is never called
            loop = asyncio.get_running_loop()
            await loop.connect_accepted_socket(lambda: Connection(shells[0], greeting), there)
            here.setblocking(False)
            async with asyncio.timeout(10):
                return await loop.sock_recv(here, 1)

    assert asyncio.run(run()) == b""
