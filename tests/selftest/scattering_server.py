"""The reference, which opens a connection for each notification and is late with every other one.

scattering_server.py PORT DIR CONFIG
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from reference_impl.serve import nameserver, shell
from reference_impl.serve.outbound import Outbound

LATE = 0.06
"""Real seconds: longer than the next notification takes."""


class Scattering(Outbound):
    """Nothing that it sends comes in an order."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count()
        self._sending: set[asyncio.Task[None]] = set()

    def send(self, address: str, data: bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._send(address, data, next(self._numbers)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, address: str, data: bytes, number: int) -> None:
        await asyncio.sleep(0 if number % 2 else LATE)
        host, _, port = address.rpartition(":")
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:  # it listens no more
            return
        writer.write(data)
        await writer.drain()


if __name__ == "__main__":
    port, directory, config = sys.argv[1:]
    shell.Outbound = Scattering
    files = {"config_file": config, "kv_file": Path(directory) / "kvConfig.json"}
    sys.exit(nameserver.run(profile="5.3", host="127.0.0.1", port=int(port), **files))
