"""Containers, as far as a target needs them. Only this module knows testcontainers and the engine's client.

- Every container carries the label ``rmq-harness.owner``; ``remove_all`` removes by it, so that nothing that
  was created is forgotten, whatever became of its owner.
- testcontainers' own reaper is not used: it is a container itself, from an image that must be fetched.
  ``container_watchdog`` takes its place.
- What the engine says is raised as a ``TargetError``, or as ``EngineError`` once the container runs.
"""

from __future__ import annotations

import contextlib
import io
import socket
import tarfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import docker
import docker.errors
import msgspec
import requests
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from harness.targets.errors import TargetError

OWNER = "rmq-harness.owner"
"""Label of every container; its value names the process that created it."""

_DEADLINE = 60
"""Seconds for any answer of the engine; a pull must show progress within them."""
_LOOPBACK = "127.0.0.1"
_TROUBLE = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


class EngineError(Exception):
    """The engine refuses, or is gone, in the middle of things."""


class ImageFacts(msgspec.Struct, frozen=True):
    """What an image says of itself."""

    environment: dict[str, str]
    labels: dict[str, str]


class Container:
    """One container of an image, of which one port is reached from here."""

    def __init__(
        self,
        image: str,
        command: Sequence[str],
        *,
        owner: str,
        port: int,
        environment: Mapping[str, str],
        directory: Path,
    ) -> None:
        """Creates and starts it, with a copy of ``directory`` and its rights at its root.

        Fetches the image where it is not here. Raises ``TargetError``.
        """
        with _asking(image):
            inside = DockerContainer(image, docker_client_kw={"timeout": _DEADLINE})
            inside.with_command(list(command)).with_envs(**environment)
            inside.with_kwargs(labels={OWNER: owner})
            here = _runs_here(inside.get_docker_client())
            if here:  # the port is for this machine alone
                inside.ports[f"{port}/tcp"] = (_LOOPBACK, None)  # type: ignore[assignment]
            else:
                inside.with_exposed_ports(port)
            inside.with_copy_into_container(directory, "/")
            testcontainers_config.ryuk_disabled = True
            try:
                inside.start()
            except BaseException:
                with contextlib.suppress(*_TROUBLE):
                    inside.stop()  # what was created and did not start
                raise
        self._inside = inside
        self._wrapped = inside.get_wrapped_container()
        self._port = port
        self._here = here

    def address(self) -> tuple[str, int]:
        """Host and port at which the port in the container is reached now; another after a restart."""
        with _in_the_middle():
            if self._here:
                return _LOOPBACK, int(self._inside.get_docker_client().port(self._wrapped.id, self._port))
            return self._inside.get_container_host_ip(), self._inside.get_exposed_port(self._port)

    def runs(self) -> bool:
        """Whether its first process lives. Not, where the engine does not say."""
        with contextlib.suppress(*_TROUBLE):
            self._wrapped.reload()
            return self._wrapped.status in ("running", "paused")
        return False

    def restart(self, grace: int) -> None:
        """Ends its processes, by force after ``grace`` seconds, and starts them on the same files."""
        with _in_the_middle():
            self._wrapped.restart(timeout=grace)

    def run(self, script: str) -> None:
        """Runs a script of the shell in it, to its end."""
        with _in_the_middle():
            self._wrapped.exec_run(["sh", "-c", script])

    def put(self, path: Path, data: bytes) -> None:
        """Writes a file in it that everybody may read."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            entry = tarfile.TarInfo(path.name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
        with _in_the_middle():
            self._wrapped.put_archive(str(path.parent), archive.getvalue())

    def this_machine(self) -> str:
        """The address under which the machine of the engine is seen in it."""
        with _in_the_middle():
            self._wrapped.reload()
            networks = self._wrapped.attrs["NetworkSettings"]["Networks"].values()
            return next((str(network["Gateway"]) for network in networks if network["Gateway"]), "")

    def remove(self) -> None:
        """Ends it by force and removes it. Raises ``EngineError``; its owner's watchdog tries again."""
        with _in_the_middle(), contextlib.suppress(docker.errors.NotFound):
            self._wrapped.remove(force=True, v=True)

    def output(self) -> str:
        """The end of what its first process wrote; empty where the engine does not say."""
        with contextlib.suppress(*_TROUBLE):
            return bytes(self._wrapped.logs(tail=200)).decode("utf-8", "replace")
        return ""


def inspect(image: str) -> ImageFacts | None:
    """What an image says of itself, if it is here; None where it is not, or no engine answers."""
    with contextlib.suppress(*_TROUBLE):
        config = _client().images.get(image).attrs["Config"]
        pairs = [entry.partition("=") for entry in config.get("Env") or ()]
        return ImageFacts({key: value for key, _, value in pairs}, config.get("Labels") or {})
    return None


def holds(image: str, paths: Sequence[str], owner: str) -> str | None:
    """The first of ``paths`` that is a file in the image; None if none is. Raises ``TargetError``."""
    with _asking(image):
        client = DockerClient(timeout=_DEADLINE)
        never_started = client.create(image, command=["true"], labels={OWNER: owner})
        try:
            for path in paths:
                with contextlib.suppress(docker.errors.NotFound):
                    pieces, _ = never_started.get_archive(path)
                    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))):
                        return path
        finally:
            never_started.remove(force=True, v=True)
    return None


def remove_all(owner: str) -> int:
    """Removes every container of an owner; how many there were. Raises ``EngineError``."""
    with _in_the_middle():
        found = _client().containers.list(all=True, filters={"label": f"{OWNER}={owner}"})
        for container in found:
            with contextlib.suppress(docker.errors.NotFound):
                container.remove(force=True, v=True)
        return len(found)


def _runs_here(client: DockerClient) -> bool:
    """Whether a port that the engine publishes on its loopback is on ours: an engine of this machine.

    testcontainers takes every machine with a ``/.dockerenv`` for a container; the engine's name tells better.
    """
    name: str = client.client.info().get("Name", "")
    return name == socket.gethostname() or client.host() in ("localhost", _LOOPBACK)


def _client() -> docker.DockerClient:
    return DockerClient(timeout=_DEADLINE).client


@contextlib.contextmanager
def _asking(image: str) -> Generator[None]:
    """Tells what goes wrong before there is a container."""
    try:
        yield
    except (docker.errors.ImageNotFound, docker.errors.NotFound) as problem:
        raise _no_image(image, problem) from problem
    except docker.errors.APIError as problem:
        if problem.response is None or "/images/create" in str(problem.response.url):
            raise _no_image(image, problem) from problem
        raise TargetError(
            expected=f"a container of the image {image}",
            got=_said(problem),
            do="see whether `docker run` of the same image works",
        ) from problem
    except _TROUBLE as problem:
        raise TargetError(
            expected="a container engine that answers, for docker: targets",
            got="none",
            why=_said(problem),
            do="start Docker (ci/engine.sh start), or set DOCKER_HOST to where it is",
        ) from problem


def _no_image(image: str, problem: Exception) -> TargetError:
    return TargetError(
        expected=f"the image {image}, here or in its registry",
        got="no such image, or no way to its registry",
        why=_said(problem),
        do="correct the name, or build it: ci/image/build.sh VERSION makes rmq-harness/rocketmq:VERSION",
    )


@contextlib.contextmanager
def _in_the_middle() -> Generator[None]:
    try:
        yield
    except (*_TROUBLE, StopIteration, RuntimeError) as problem:
        raise EngineError(f"the container engine says: {_said(problem)}") from problem


def _said(problem: BaseException) -> str:
    explained = getattr(problem, "explanation", None)
    return " ".join(str(explained or problem).split())[:400]
