"""How a server ends in a process that goes on."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from reference_impl.nameserver.config import Config
from reference_impl.serve.connection import Connection
from reference_impl.serve.nameserver import serve_nameserver
from reference_impl.serve.shell import Shell


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
