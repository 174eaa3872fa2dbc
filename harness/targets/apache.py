"""``apache:``: Apache's own NameServer or Broker, from the jars that Apache publishes.

Nothing of the server is changed; it gets a small heap, small files in a home of its own, free ports, and as a
Broker our NameServers. One that is started with settings of which none is about TLS serves no TLS. What it is
made of is said in ``description``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.catalogue import Role, profile_named, release_line
from harness.catalogue.versions import numbers
from harness.session import DEFAULT_SETUP, Setup
from harness.targets import maven
from harness.targets import warp as faketime
from harness.targets.capabilities import Capabilities
from harness.targets.java import java_command, launch
from harness.targets.probed_broker import PORTS, BrokerProcess, nameservers_in, with_nameservers
from harness.targets.process import Command, ProcessInstance
from harness.targets.settings import (
    demands_tls,
    has_controller,
    in_directory,
    place_files,
    ports_of_nameserver,
    with_controller,
)

_TITLES = {"nameserver": "NameServer", "broker": "Broker"}
_ARTIFACTS = {"nameserver": ("rocketmq-namesrv",), "broker": ("rocketmq-broker",)}
_OWN_CERTIFICATES = (4, 9, 3)
"""Since this release the jars can make the certificate of a server that has none. Older ones leave it to the
JDK, and Java 17 no longer does it: they get Bouncy Castle, which later releases have themselves.
"""
_START_WITHIN = 180.0
_ANSWER_WITHIN = 90.0
_REGISTERS_WITHIN = 30.0
"""Real seconds. They are known to start and to register, and one that ends is noticed at once: the machine is
slow then.
"""
_NAMESERVER_MAIN = "org.apache.rocketmq.namesrv.NamesrvStartup"
_OPENED = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
"""What Java 17 keeps from code that does not say so: Netty 4.0 (up to 4.8.0) reads the fields of buffers and
selectors and does not load without them.
"""
_SMALL_JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # It samples 20 times in a second of protocol time: a quarter of what a start costs, and of rest at x60.
    "-XX:-UsePerfData",
)
_NAMESERVER_JVM = ("-Xms32m", "-Xmx256m", *_SMALL_JVM, *_OPENED)
_BROKER_MAIN = "org.apache.rocketmq.broker.BrokerStartup"
_BROKER_JVM = (
    "-Xms64m",
    "-Xmx512m",
    *_SMALL_JVM,
    # 4.9 unmaps its files by reflection, 5.x asks whether they are loaded.
    *_OPENED,
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
)
_DISK = {
    "diskSpaceWarningLevelRatio": "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    "diskSpaceCleanForciblyRatio": "-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.99",
}
"""A disk that is fuller than this is not written to (`DefaultMessageStore`). The property goes before the
setting of its name.
"""
_SMALL = {
    "mappedFileSizeCommitLog": "16777216",
    "mappedFileSizeConsumeQueue": "60000",
    "maxHashSlotNum": "5000",
    "maxIndexNum": "20000",
    "diskMaxUsedSpaceRatio": "99",
    # Else a send that waits for 200 ms, or while another is written for a second, is refused; where time runs
    # faster that is soon over.
    "brokerFastFailureEnable": "false",
    "osPageCacheBusyTimeOutMills": "60000",
}
_LOG_OF_CONTROLLER = "1048576"
"""Bytes of a file of the controller's log, which it has in memory as a whole; 1 GiB by default."""
_FASTEST_CONTROLLER = 10.0
"""How many times as fast the time of a controller runs at most. At x20 the threads of its log take a third to
a half of a processor from other servers, doing nothing, and the 5 s in which it answers at all are soon over.
"""
_FLUSH_TIMERS = 10.0
"""Real seconds between two flushes of 5.x's timer wheel, each of which compares 38 MB byte by byte: in the
second of protocol time that is the default, a warped Broker does little else.
"""


_WITHOUT_TLS = {"tls.server.mode": "disabled"}
"""Else each start makes a certificate, with an RSA key of 2048 bits: two thirds of what a start costs."""


class ApacheTarget:
    """``apache:VERSION[?warp=N]``."""

    def __init__(
        self, uri: str, version: str, warp: float, role: Role = "nameserver", logs: Path | None = None
    ) -> None:
        self.uri = uri
        self._logs = logs
        self.capabilities = Capabilities(scheme="apache", starts="slowly", warp=warp)
        self._version = version
        self._warp = warp
        self._role: Role = role
        self.server = f"apache-{role}@{version}"
        self.line = release_line(version).name
        old = numbers(version) < _OWN_CERTIFICATES
        self._artifacts = (*_ARTIFACTS[role], *(["bcpkix"] if old else []))
        # 4.x scans a HashMap without a lock: a broker that comes or goes while another is being removed ends
        # the scan for good, and with it the expiry of all leases
        # (`RouteInfoManager#scanNotActiveBroker`; seen within seconds at x60).
        self.waits_alone = role == "nameserver" and not release_line(version).has("safe-scan")

    def start(self) -> ProcessInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> ProcessInstance:
        """Fetches what is missing and starts it. Raises ``TargetError`` with what to do where it cannot."""
        java = java_command(f"Apache's {_TITLES[self._role]}")
        classpath = maven.classpath(self._version, self._artifacts)
        if self._role == "nameserver":
            return ProcessInstance(
                self._command(
                    setup,
                    lambda port, home: _nameserver_arguments(java, classpath, port, home, self.line, setup),
                    ports=ports_of_nameserver(setup),
                    warp=min(self._warp, _FASTEST_CONTROLLER) if has_controller(setup) else self._warp,
                ),
                kept_in=self._logs,
            )

        def command(nameservers: tuple[str, ...]) -> Command:
            return self._command(
                setup,
                lambda port, home: _broker_arguments(
                    java, classpath, port, home, setup, nameservers, self._warp
                ),
                ports=PORTS,
                warp=self._warp,
            )

        count = nameservers_in(setup)
        return BrokerProcess(command, self._warp, count, self._logs, registers_within=_REGISTERS_WITHIN)

    def _command(
        self,
        setup: Setup,
        arguments: Callable[[int, Path], Sequence[str]],
        *,
        ports: tuple[int, ...],
        warp: float,
    ) -> Command:
        environment = faketime.environment(warp)
        return Command(
            name=f"Apache's {_TITLES[self._role]} {self._version}",
            description=self._description(warp),
            arguments=arguments,
            environment=lambda home: {**environment, "ROCKETMQ_HOME": str(home)},
            warp=warp,
            start_within=_START_WITHIN,
            answer_within=_ANSWER_WITHIN,
            must_answer=True,
            wants_tls=demands_tls(setup),
            ports=ports,
            ends_at_once=True,
            may_rest=warp > 1 and not has_controller(setup),
        )

    def _description(self, warp: float) -> str:
        parts = [f"Apache {_TITLES[self._role]} {self._version}"]
        if stand_in := maven.stand_in(self._version, self._artifacts):
            parts.append(stand_in)
        if "bcpkix" in self._artifacts:
            parts.append("with Bouncy Castle, to make its certificate")
        if warp != 1:
            parts.append(f"time x{warp:g}")
        return ", ".join(parts)


def _certificate(setup: Setup) -> dict[str, str]:
    """What a server with these settings is started with besides, for its certificate. Without settings it is
    Apache's own in all; that one serves the cases about TLS.
    """
    about_tls = any(key.startswith("tls.") for key, _ in setup)
    return {} if about_tls or not setup else _WITHOUT_TLS


def _nameserver_arguments(
    java: str, classpath: str, port: int, home: Path, line: str, setup: Setup
) -> Sequence[str]:
    settings = {"listenPort": str(port)}
    if profile_named(line).has("settings-of-5"):  # 4.9 has no such setting and listens everywhere
        settings["bindAddress"] = "127.0.0.1"
    settings |= _certificate(setup) | with_controller(in_directory(setup, home), port)
    if has_controller(setup):
        settings |= {"mappedFileSize": _LOG_OF_CONTROLLER}
    return launch([java, *_NAMESERVER_JVM], classpath, _NAMESERVER_MAIN, home, "namesrv", settings)


def _broker_arguments(
    java: str,
    classpath: str,
    port: int,
    home: Path,
    setup: Setup,
    nameservers: tuple[str, ...],
    warp: float,
) -> Sequence[str]:
    (home / "store").mkdir(exist_ok=True)
    place_files(setup, home)
    settings = {
        **_SMALL,
        "timerFlushIntervalMs": str(round(_FLUSH_TIMERS * 1000 * warp)),
        "brokerName": "probed",
        "brokerClusterName": "probed-cluster",
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "listenPort": str(port),
        "haListenPort": str(port + 1),
        "namesrvAddr": "{nameserver}",
        "storePathRootDir": str(home / "store"),
        "storePathCommitLog": str(home / "store" / "commitlog"),
        **_certificate(setup),
        **in_directory(setup, home),
    }
    settings = {key: with_nameservers(value, nameservers) for key, value in settings.items()}
    disk = [option for key, option in _DISK.items() if key not in dict(setup)]
    return launch([java, *_BROKER_JVM, *disk], classpath, _BROKER_MAIN, home, "broker", settings)
