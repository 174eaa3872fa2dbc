"""``apache:``: Apache's own NameServer, from the jars that Apache publishes.

Rules of this module: nothing of the server is changed; it gets a small heap, a home of its own and a port.
What it is made of is said in ``description``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from harness.session import DEFAULT_SETUP, ProfileName, Setup
from harness.targets import maven
from harness.targets import warp as faketime
from harness.targets.java import java_command, launch
from harness.targets.nature import Nature
from harness.targets.process import Command, ProcessInstance
from harness.targets.settings import demands_tls, in_directory

__all__ = ["ApacheTarget", "line_of"]

_MAIN = "org.apache.rocketmq.namesrv.NamesrvStartup"
_JVM = ("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class ApacheTarget:
    """``apache:VERSION[?warp=N]``."""

    def __init__(self, uri: str, version: str, warp: float) -> None:
        self.uri = uri
        self.nature = Nature(scheme="apache", starts="slowly", warp=warp)
        self._version = version
        self._warp = warp
        self.server = f"apache-nameserver@{version}"
        self.line = line_of(version)
        # 4.x scans a HashMap without a lock: a broker that comes or goes while another is being removed ends
        # the scan for good, and with it the expiry of all leases
        # (`RouteInfoManager#scanNotActiveBroker`; seen within seconds at x60).
        self.waits_alone = self.line == "4.9"

    def start(self) -> ProcessInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> ProcessInstance:
        """Fetches what is missing and starts it. Raises ``TargetError`` with what to do where it cannot."""
        java = java_command("Apache's NameServer")
        environment = faketime.environment(self._warp)
        classpath = maven.classpath(self._version)
        stand_in = maven.stand_in(self._version)
        return ProcessInstance(
            Command(
                name=f"Apache's NameServer {self._version}",
                description=self._description(stand_in),
                arguments=lambda port, home: _arguments(java, classpath, port, home, self.line, setup),
                environment=lambda home: {**environment, "ROCKETMQ_HOME": str(home)},
                warp=self._warp,
                start_within=60.0,
                answer_within=30.0,
                must_answer=True,
                wants_tls=demands_tls(setup),
            )
        )

    def _description(self, stand_in: str) -> str:
        parts = [f"Apache NameServer {self._version}"]
        if stand_in:
            parts.append(stand_in)
        if self._warp != 1:
            parts.append(f"time x{self._warp:g}")
        return ", ".join(parts)


def line_of(version: str) -> ProfileName:
    """The profile of a release: 5.4.0 changed the JSON engine of the 5.x line."""
    major, minor = (int(part) for part in re.findall(r"\d+", version + ".0")[:2])
    if major < 5:
        return "4.9"
    return "5.3" if (major, minor) < (5, 4) else "5.5"


def _arguments(
    java: str, classpath: str, port: int, home: Path, line: ProfileName, setup: Setup
) -> Sequence[str]:
    settings = {"listenPort": str(port)}
    if line != "4.9":  # 4.9 knows no such setting and listens everywhere
        settings["bindAddress"] = "127.0.0.1"
    settings |= in_directory(setup, home)
    return launch([java, *_JVM], classpath, _MAIN, home, "namesrv", settings)
