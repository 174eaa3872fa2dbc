"""A control port that was started from the command line, and requests to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

MAIN = "import sys; from harness.cli import main; sys.exit(main())"
PATIENCE = 120
JSON = "application/json"


class Answer(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    media_type: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The kind and the detail of a problem."""
        assert self.media_type == "application/problem+json", self
        assert set(self.json) == {"type", "title", "status", "detail"}
        assert self.json["status"] == self.status
        return f"{self.json['type'].removeprefix('urn:rmq-harness:')}: {self.json['detail']}"


class Port:
    """The control port of a cluster."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, path: str, **query: Any) -> Any:
        """What an operation returns that only looks."""
        return _value(self.ask("GET", f"{path}?{urlencode(query)}" if query else path))

    def post(self, path: str, **given: Any) -> Any:
        """What an operation returns that does something."""
        return _value(self.ask("POST", path, json.dumps(given).encode(), {"Content-Type": JSON}))

    def refused(self, path: str, **given: Any) -> str:
        """The problem that an operation answers with."""
        return self.ask("POST", path, json.dumps(given).encode(), {"Content-Type": JSON}).problem

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to a request, whatever it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, response.headers.get("Content-Type", ""), response.read())
        finally:
            connection.close()


def _value(answer: Answer) -> Any:
    assert answer.status in (200, 204), answer.problem
    return answer.json if answer.body else None


class Process:
    """`rmq-harness serve cluster` in a process of its own."""

    def __init__(self, *options: str, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "serve", "cluster", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=directory,
        )
        assert self.process.stdout is not None
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("ready:"):
                break

    def end(self) -> tuple[int, str]:
        """The exit status, and what it wrote to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            _, errors = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        return self.process.returncode, errors

    @property
    def port(self) -> Port:
        found = re.search(r"^control on http://127\.0\.0\.1:(\d+)$", self.said, re.MULTILINE)
        assert found is not None, self.said
        return Port(int(found[1]))


@contextlib.contextmanager
def serving(*options: str, directory: Path) -> Iterator[Port]:
    """The control port of a cluster that has not a word to complain at its end."""
    process = Process("--control", "0", *options, directory=directory)
    try:
        yield process.port
    finally:
        ended = process.end()
    assert ended == (0, "")
