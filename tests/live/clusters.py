"""Clusters that real clients are let loose on: `serve cluster`, and Apache's own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from peers import FIXTURES, JVM, Broker, ask, settled

from harness.targets import TargetError, maven, parse
from harness.targets.process import ProcessInstance

VERSIONS = {"4.9.8": "4.9", "5.3.3": "5.3"}
"""Release to line."""
ONE_IN_CI = [pytest.param("4.9.8", marks=pytest.mark.soak), "5.3.3"]
"""Both releases, of which CI runs the newer one and `make soak` both."""
HASTE = {"transactionTimeOut": "2000", "transactionCheckInterval": "3000"}
"""An open transaction is checked within seconds."""
PATIENCE = {"waitTimeMillsInSendQueue": "60000"}
"""So that Apache's Broker drops no message for having waited: 200 ms are soon over on a busy machine."""
UNREACHABLE = re.compile(
    r"Could not (?:resolve|transfer|find) artifact.*|.*(?:ENOTFOUND|ETIMEDOUT|no such host|dial tcp).*"
)
"""What build tools say where they do not reach a registry."""
_READY_WITHIN = 20.0
_CLIENTS_WITHIN = 900.0
_GAVE_UP = "close socket because of timeout"


def missing(problem: TargetError) -> None:
    """Skips, and says why; fails where everything has to be there."""
    if os.environ.get("RMQ_REQUIRE_LIVE") == "1":
        raise problem
    pytest.skip(str(problem))


@contextlib.contextmanager
def our_cluster(line: str, directory: Path, masters: int = 1, **settings: str) -> Generator[str]:
    """The address of the NameServer of `serve cluster`. `settings`: of its Brokers."""
    words = ["cluster", "--profile", line, "--port", "0", "--masters", str(masters)]
    with _served(words, directory, settings) as said:
        yield said.partition("ready: namesrvAddr=")[2]


@contextlib.contextmanager
def our_nameserver(line: str, directory: Path, **settings: str) -> Generator[str]:
    """The address of `serve nameserver`."""
    with _served(["nameserver", "--profile", line, "--port", "0"], directory, settings) as said:
        yield re.findall(r"ready on (\S+:\d+)", said)[0]


@contextlib.contextmanager
def our_broker(line: str, nameserver: str, directory: Path, **settings: str) -> Generator[str]:
    """The address of `serve broker`."""
    words = ["broker", "--profile", line, "--port", "0", "--host", "127.0.0.1", "--nameserver", nameserver]
    with _served(words, directory, settings) as said:
        yield re.findall(r"ready on (\S+),", said)[0]


@contextlib.contextmanager
def _served(words: list[str], directory: Path, settings: Mapping[str, str]) -> Generator[str]:
    """The line by which `serve` says that it is ready. It must end well, and without a complaint."""
    path = directory / f"{'-'.join(words[:1])}.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = [str(Path(sys.executable).with_name("rmq-harness")), "serve", *words, "-c", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = ""
        while "ready" not in said:
            said = process.stdout.readline()
            assert said, f"serve has ended: {process.communicate()[1]}"
        yield said.strip()
        process.terminate()
        _, said = process.communicate(timeout=_READY_WITHIN)
        assert (process.returncode, said) == (0, "")
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def apache_nameserver(version: str, **settings: str) -> Generator[str]:
    """The address of Apache's NameServer; its controller, if it has one, is at the next port."""
    instance = parse(f"apache:{version}").another(tuple(sorted(settings.items())))
    assert isinstance(instance, ProcessInstance)
    try:
        yield f"127.0.0.1:{instance.port}"
    finally:
        instance.stop()


@contextlib.contextmanager
def apache_broker(version: str, nameserver: str, **settings: str) -> Generator[Broker]:
    """Apache's Broker, once it is registered."""
    broker = Broker(version, [nameserver], **settings)
    try:
        settled(
            lambda: broker.address in json.dumps(ask(nameserver, 106, 479).body), "the Broker is registered"
        )
        yield broker
    finally:
        broker.stop()


def clients(
    version: str,
    nameserver: str,
    count: int,
    run: str,
    directory: Path,
    *kinds: str,
    account: tuple[str, str] | None = None,
    senders: int = 4,
) -> dict[str, dict[str, Any]]:
    """What became of the messages of each kind, with Apache's client of a release. No kinds: all.

    `run`: a word that no other call with this directory has. `account`: access key and secret key, with which
    the client signs. `senders`: the threads that send, over one connection.
    """
    home = directory / f"client-{run}"
    home.mkdir()
    classpath = maven.classpath(version, ["rocketmq-tools"])
    program = str(FIXTURES / "java" / "BrokerClients.java")
    signs = {} if account is None else dict(zip(("RMQ_ACCESS_KEY", "RMQ_SECRET_KEY"), account, strict=True))
    done = subprocess.run(
        [
            "java",
            *JVM[:4],
            f"-Duser.home={home}",
            f"-Dsenders={senders}",
            "-cp",
            classpath,
            program,
            nameserver,
            str(count),
            run,
            *kinds,
        ],
        capture_output=True,
        text=True,
        timeout=_CLIENTS_WITHIN,
        check=False,
        env={**os.environ, **signs},
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert found, done.stderr[-2000:]
    sys.stderr.write(done.stderr[-2000:])  # what the client complained of, where the test fails
    by_kind = {one["kind"]: one for one in found}
    oneway = by_kind.get("oneway", {})
    if oneway.get("lost") and _ended_a_connection(home):
        warnings.warn(f"{oneway['lost']} one-way messages were lost with a connection", stacklevel=2)
        oneway["lost"] = 0
    return by_kind


def _ended_a_connection(home: Path) -> bool:
    """Whether Apache's client has ended a connection because an answer was late (3 s). What it had sent
    one-way and was not read yet is lost with it: the client's doing, on a machine that stood still.
    """
    logs = home.glob("logs/rocketmqlogs/*.log")
    return any(_GAVE_UP in log.read_text(encoding="utf-8", errors="replace") for log in logs)
