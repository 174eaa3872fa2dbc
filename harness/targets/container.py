"""``docker:``: a NameServer in a container of an image, the official one or any with its entry points.

- The image is run as it is: command ``sh mqnamesrv`` in its working directory, settings by ``-c``, options of
  the JVM by ``JAVA_OPT_EXT`` (the entry points of ``apache/rocketmq``).
- The port is published on loopback, where the engine runs on this machine; that address is the one that is
  passed to others. The engine picks it, and picks another at a restart.
- A container is always removed: by ``stop``, at the exit of the interpreter, and by this process's watchdog
  when it is killed.
- The engine's proxy takes connections before the server does: what is not answered is not there.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.catalogue import profile_named, release_line
from harness.session import (
    DEFAULT_SETUP,
    Clock,
    Ending,
    Listening,
    RunningClock,
    Setup,
    SocketListening,
    SocketTransport,
    TargetDied,
    Unsupported,
    connect,
)
from harness.targets.capabilities import Capabilities
from harness.targets.errors import TargetError
from harness.targets.java import SYSTEM
from harness.targets.posix import require_posix_to_start
from harness.targets.reach import SILENT, answers
from harness.targets.settings import demands_tls, in_directory, write_properties

if TYPE_CHECKING:
    from types import ModuleType

    from harness.targets.engine import Container


_PORT = 9876
_DIRECTORY = Path("/rmq-harness")
_JVM = "-Xms32m -Xmx256m -Xmn64m -XX:TieredStopAtLevel=1"
"""A small heap, whatever the image asks for; the collector is left as it is, for two of them do not start."""
_VERSION = re.compile(r"\d+(\.\d+)+")
_START_WITHIN = 180.0
_ATTEMPT = 0.5
_GRACE = 10
"""Real seconds until what does not end when it is asked to is killed: what engines give by default."""
_TERMINATE = """\
found=
for process in /proc/[0-9]*; do
  case "$(tr '\\0' ' ' < "$process/cmdline")" in
    *[j]ava*[N]amesrvStartup*) kill -TERM "${process#/proc/}"; found=1 ;;
  esac
done
[ -n "$found" ] || kill -TERM 1
"""
"""The first process of the official image is a shell, which does not pass a signal on to the JVM."""
_LIBRARIES = tuple(
    f"/usr/{place}/libfaketimeMT.so.1"
    for place in (
        "lib/x86_64-linux-gnu/faketime",
        "lib/aarch64-linux-gnu/faketime",
        "lib/faketime",
        "lib64/faketime",
        "local/lib/faketime",
    )
)


class DockerTarget:
    """``docker:IMAGE[?warp=N&profile=P]``."""

    def __init__(self, uri: str, image: str, warp: float, profile: str | None) -> None:
        self.uri = uri
        self.capabilities = Capabilities(scheme="docker", starts="slowly", warp=warp)
        self._image = image
        self._warp = warp
        self._profile = profile
        self._version = ""

    @property
    def line(self) -> str | None:
        """The profile that was named, or that of the version that tag or image tell."""
        return self._profile or (release_line(version).name if (version := self._told_version()) else None)

    @property
    def server(self) -> str | None:
        """Apache's, where the image is called ``rocketmq`` and tells its version; `--quirks` can say more."""
        repository = self._image.partition("@")[0].rpartition("/")[2].partition(":")[0]
        version = self._told_version() if repository == "rocketmq" else ""
        return f"apache-nameserver@{version}" if version else None

    @property
    def waits_alone(self) -> bool:
        """As ``apache:`` does, for the same server."""
        return self.line is not None and not profile_named(self.line).has("safe-scan")

    def start(self) -> ContainerInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> ContainerInstance:
        """Creates a container. Raises ``TargetError`` with what to do where it cannot."""
        _engine()
        return ContainerInstance(self._image, self._warp, setup, self._description)

    def _description(self) -> str:
        version, facts = self._told_version(), _engine().inspect(self._image)
        parts = [f"NameServer in a container of {self._image}"]
        if version and version not in self._image:
            parts.append(f"version {version}")
        if facts and (made_of := facts.labels.get("rmq-harness.made-of")):
            parts.append(made_of)
        if self._warp != 1:
            parts.append(f"time x{self._warp:g}")
        return ", ".join(parts)

    def _told_version(self) -> str:
        """RocketMQ's version by tag, environment or label; empty where nothing says it."""
        if not self._version:
            tag = self._image.partition("@")[0].rpartition("/")[2].partition(":")[2]
            self._version = _version_in(tag) or self._version_inside()
        return self._version

    def _version_inside(self) -> str:
        try:
            facts = _engine().inspect(self._image)
        except TargetError:  # reported when it is to be started
            return ""
        if facts is None:
            return ""
        said = facts.environment.get("ROCKETMQ_VERSION", "")
        return _version_in(said) or _version_in(facts.labels.get("org.opencontainers.image.version", ""))


class ContainerInstance:
    """A running container."""

    def __init__(self, image: str, warp: float, setup: Setup, description: Callable[[], str]) -> None:
        self._image = image
        self._clock = RunningClock(warp)
        self._wants_tls = demands_tls(setup)
        self._output = ""
        self._container: Container | None = None
        atexit.register(self.stop)
        try:
            self._create(warp, setup)
            self._description = description()
            self._address = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def description(self) -> str:
        return self._description

    def shared(self) -> dict[str, str | int | float]:
        """What ``attach`` needs in another process to use this instance."""
        host, port = self._address
        return {"host": host, "port": port, "warp": self._clock.warp, "description": self.description}

    def open(self) -> SocketTransport:
        try:
            return connect(*self._address)
        except TargetDied as problem:
            if self._container is not None and self._container.runs():
                raise
            raise TargetDied(f"the container of {self._image} has ended: {self.output()[-400:]}") from problem

    def open_controller(self) -> SocketTransport:
        raise Unsupported("the container publishes no port of a controller")

    def restart(self, how: Ending = "term") -> None:
        container = self._running()
        if how == "term":
            self.shutdown()  # its first process may not forward the signal
        try:
            container.restart(_GRACE if how == "term" else 0)
        except _engine().EngineError as problem:
            raise self._failed(str(problem)) from problem
        self._address = self._wait_until_ready()

    def shutdown(self) -> None:
        with contextlib.suppress(_engine().EngineError):  # it may have ended already
            self._running().run(_TERMINATE)

    def place(self, name: str, data: bytes | None) -> None:
        container = self._running()
        if data is None:
            container.run(f"rm {_DIRECTORY}/{name}")
            return
        container.put(_DIRECTORY / f".{name}.new", data)
        container.run(f"mv {_DIRECTORY}/.{name}.new {_DIRECTORY}/{name}")

    def listen(self) -> Listening:
        host = self._running().this_machine()
        try:
            return SocketListening(host)
        except OSError as problem:
            raise Unsupported("what is in the container does not see an address of this machine") from problem

    def alive(self) -> bool:
        if self._container is None or not self._container.runs():
            return False
        return self._answers(self._address, SILENT)

    def output(self) -> str:
        """The end of what it wrote; also after it was stopped."""
        if self._container is not None:
            self._output = self._container.output() or self._output
        return self._output

    @property
    def log(self) -> None:
        return None

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self.output()
        container, self._container = self._container, None
        if container is not None:
            with contextlib.suppress(_engine().EngineError):  # the watchdog tries again
                container.remove()

    def _create(self, warp: float, setup: Setup) -> None:
        settings = {"listenPort": str(_PORT)} | in_directory(setup, _DIRECTORY)
        system = {key: settings.pop(key) for key in list(settings) if key.startswith(SYSTEM)}
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch) / _DIRECTORY.name
            directory.mkdir()
            write_properties(directory / "namesrv.properties", settings)
            # The server's user is not ours, and code 318 replaces the file.
            directory.chmod(0o777)
            (directory / "namesrv.properties").chmod(0o666)
            self._container = _engine().Container(
                self._image,
                ["sh", "mqnamesrv", "-c", str(_DIRECTORY / "namesrv.properties")],
                owner=_OWNER.name(),
                port=_PORT,
                environment=self._environment(warp, system),
                directory=directory,
            )

    def _environment(self, warp: float, system: Mapping[str, str]) -> dict[str, str]:
        options = " ".join([_JVM, *(f"-D{key}={value}" for key, value in system.items())])
        if warp == 1:
            return {"JAVA_OPT_EXT": options}
        library = _library(self._image)
        if library is None:
            raise TargetError(
                expected=f"libfaketime in the image {self._image}, to run its time {warp:g} times as fast",
                got=f"none of {', '.join(_LIBRARIES)}",
                do="build an image that has it (ci/image/build.sh), or leave out warp= and wait in real time",
            )
        return {"JAVA_OPT_EXT": options, "LD_PRELOAD": library, "FAKETIME": f"+0 x{warp:g}"}

    def _wait_until_ready(self) -> tuple[str, int]:
        end = time.monotonic() + _START_WITHIN
        while True:
            container = self._running()
            if not container.runs():
                raise self._failed("it ended before it was ready")
            try:
                address = container.address()
            except _engine().EngineError as problem:
                raise self._failed(str(problem)) from problem
            if self._answers(address, _ATTEMPT):
                return address
            if time.monotonic() > end:
                raise self._failed(f"no answer to a request within {_START_WITHIN:g} s")
            time.sleep(0.05)

    def _answers(self, address: tuple[str, int], within: float) -> bool:
        # Where TLS is demanded, a close says nothing: an engine's proxy closes too if nothing is behind it.
        return answers(*address, within, tls=self._wants_tls)

    def _running(self) -> Container:
        if self._container is None:
            raise TargetDied(f"the container of {self._image} has been stopped")
        return self._container

    def _failed(self, got: str) -> TargetError:
        said = self.output().strip()
        return TargetError(
            expected=f"a container of {self._image} to serve RocketMQ's protocol at its port {_PORT}",
            got=got,
            why=f"it wrote: {said[-1500:]}" if said else "it wrote nothing",
            do="run the image by hand with the command `sh mqnamesrv`",
        )


def _engine() -> ModuleType:
    """The module that knows the engine.

    Raises ``TargetError`` where the harness can start no server, or where the library is not there or cannot
    read its settings: it does so when it is imported, also from a file in the home directory.
    """
    require_posix_to_start()
    try:
        from harness.targets import engine
    except ImportError as problem:
        raise TargetError(
            expected="the package testcontainers, for docker: targets",
            got=str(problem),
            do="install it with: pip install 'rmq-harness[docker]'",
        ) from problem
    except (OSError, ValueError) as problem:
        raise TargetError(
            expected="settings that the package testcontainers can read, for docker: targets",
            got=str(problem),
            why="it reads ~/.testcontainers.properties, and the variables TESTCONTAINERS_… and TC_…",
            do="correct or remove the one that this is about",
        ) from problem
    return engine


def _version_in(text: str) -> str:
    found = _VERSION.match(text)
    return found[0] if found else ""


class _Owner:
    """This process, as its containers know it. Its watchdog lives as long as it does."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._name = ""
        self._watchdog: subprocess.Popen[bytes] | None = None

    def name(self) -> str:
        """What to label containers with: they are watched from now on."""
        with self._starting:
            if self._watchdog is None:
                self._name = uuid.uuid4().hex
                self._watchdog = subprocess.Popen(
                    [sys.executable, "-m", "harness.targets.container_watchdog", self._name],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            return self._name


_OWNER = _Owner()


@functools.cache
def _library(image: str) -> str | None:
    """Where libfaketime is in an image."""
    found: str | None = _engine().holds(image, _LIBRARIES, _OWNER.name())
    return found
