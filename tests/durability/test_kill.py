"""SIGKILL at random moments during writes: nothing that was answered is lost, and no file is unreadable.

A kill is no power failure: `test_order.py` shows by the order of the calls that a file is on disk before
the answer leaves.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from killing import KILLS, kill_at_work
from servers import FAULTS, Client, Server

from harness.wire import RequestCode
from harness.wire.bodies import KvTable, Properties

WRITERS = 3
"""Connections that put pairs; one more updates the configuration."""
FILLER = "x" * 200_000
"""Both files hold it, so that writing them takes a moment."""
MOST = 12
"""The server is killed after at most this many answered writes, ..."""
LONGEST = 0.03
"""... and at most this many seconds."""

KEYS = [*(f"kv {number}" for number in range(WRITERS)), "configuration"]


class Writer(Client):
    """Numbers only grow: what is read tells which write was last."""

    def write(self, key: str, number: int) -> None:
        if key == "configuration":
            answer = self.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=f"number={number}".encode())
        else:
            ext: dict[str, str | None] = {"namespace": "n", "key": key, "value": str(number)}
            answer = self.ask(RequestCode.PUT_KV_CONFIG, ext)
        assert answer.code == 0, answer

    def read(self) -> dict[str, int]:
        """The number that is stored under each key; -1: none."""
        listed = self.ask(RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": "n"})
        pairs = KvTable.decode(listed.body).table if listed.code == 0 else {}
        pairs["configuration"] = Properties.decode(self.ask(RequestCode.GET_NAMESRV_CONFIG).body).pairs.get(
            "number", "-1"
        )
        return {key: int(pairs.get(key, "-1")) for key in KEYS}


class Campaign:
    """One server after another on the same files, each killed while it writes."""

    def __init__(self, directory: Path, seed: int, fault: str = "") -> None:
        self._random = random.Random(seed)
        self._fault = fault
        self._settings = directory / "ns.properties"
        pairs = {"kvConfigPath": str(directory / "kv.json"), "number": "0", "filler": FILLER}
        self._settings.write_bytes(Properties(pairs).encode())
        self._next = 1
        self.sent = dict.fromkeys(KEYS, 0)
        self.answered = dict.fromkeys(KEYS, 0)
        self.writes = 0
        server = Server(self._settings, fault)
        client = Writer(server.port)
        client.ask(RequestCode.PUT_KV_CONFIG, {"namespace": "filler", "key": "k", "value": FILLER})
        for key in KEYS:
            client.write(key, 0)
        client.close()
        server.kill()

    def kill_once(self) -> None:
        """Kills a server while it writes and reads what the next one has. Raises AssertionError."""
        server = Server(self._settings, self._fault)
        kill_at_work(
            server,
            [partial(self._write, key) for key in KEYS],
            lambda: self.writes,
            after=self._random.randint(0, MOST),
            pause=self._random.uniform(0, LONGEST),
        )
        self._look()

    def _write(self, key: str, port: int, began: threading.Barrier) -> None:
        client = Writer(port)
        began.wait()
        try:
            while True:
                self.sent[key] += 1
                client.write(key, self.sent[key])
                self.answered[key] = self.sent[key]
                self.writes += 1
        except OSError:
            client.close()

    def _look(self) -> None:
        server = Server(self._settings, self._fault)
        client = Writer(server.port)
        found = client.read()
        client.close()
        server.kill()
        for key in KEYS:
            assert self.answered[key] <= found[key] <= self.sent[key], (
                f"{key}: {found[key]} is stored, {self.answered[key]} was answered, {self.sent[key]} was sent"
            )
            self.sent[key] = self.answered[key] = found[key]


def test_no_answered_write_is_lost(tmp_path: Path, report_kills: Callable[[int, int, str], None]) -> None:
    campaign = Campaign(tmp_path, seed=1)
    for _ in range(KILLS):
        campaign.kill_once()
    report_kills(KILLS, campaign.writes, "answered writes")
    assert campaign.writes > KILLS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_writes_otherwise_is_found_out(tmp_path: Path, fault: str) -> None:
    campaign = Campaign(tmp_path, seed=1, fault=fault)
    with pytest.raises(AssertionError, match=r"does not start|is stored"):
        for _ in range(200):
            campaign.kill_once()
