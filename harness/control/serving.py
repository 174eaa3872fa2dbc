"""The control port: uvicorn, in the event loop of the cluster."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from typing import Final

import uvicorn

from reference_impl.serve import Beside, Cluster

from .app import application
from .controlled import Controlled
from .guard import Hosts

_LOOK_EVERY: Final = 0.005
_KEEPS_IDLE: Final = 60
"""Seconds that a connection without a request is kept."""
_ENDS_WITHIN: Final = 1
"""Seconds that answers have which are still to be sent when the cluster stops."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def url_of(listening: socket.socket) -> str:
    """Where a client of this machine finds it."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def control(listening: socket.socket, names: tuple[str, ...], profile: str) -> Beside:
    """What serves the control port of a cluster as long as the cluster is there. `names` are those that
    others reach it by.
    """
    hosts = Hosts(names, is_open=not ip_address(listening.getsockname()[0]).is_loopback)

    @asynccontextmanager
    async def served(cluster: Cluster, namesrv: str) -> AsyncIterator[None]:
        rocketmq = Controlled(cluster, namesrv, profile)
        await rocketmq.begin()
        server = _Server(
            uvicorn.Config(
                application(rocketmq, hosts),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEPS_IDLE,
                timeout_graceful_shutdown=_ENDS_WITHIN,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            while not server.started and not serving.done():
                await asyncio.sleep(_LOOK_EVERY)
            yield
        finally:
            rocketmq.end()
            server.should_exit = True
            await serving

    return served


class _Server(uvicorn.Server):
    """Signals are the cluster's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
