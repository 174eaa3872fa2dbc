"""``apache:`` as a Broker: Apache's own, from the jars that Apache publishes.

Rules of this module: nothing of the server is changed; it gets a small heap, small files in a home of its
own, free ports, and our NameServers. What it is made of is said in ``description``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.session import DEFAULT_SETUP, Setup
from harness.targets import maven
from harness.targets import warp as faketime
from harness.targets.apache import line_of
from harness.targets.broker_process import PORTS, BrokerProcess, nameservers_in, with_nameservers
from harness.targets.java import java_command, launch
from harness.targets.nature import Nature
from harness.targets.process import Command
from harness.targets.settings import demands_tls, in_directory

__all__ = ["ApacheBrokerTarget"]

_MAIN = "org.apache.rocketmq.broker.BrokerStartup"
_ARTIFACT = ("rocketmq-broker",)
_JVM = (
    "-Xms64m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # 4.9 unmaps its files by reflection, 5.x asks whether they are loaded.
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    # A disk that is fuller than this is not written to (`DefaultMessageStore`).
    "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    "-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.99",
)
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
_FLUSH_TIMERS = 10.0
"""Real seconds between two flushes of 5.x's timer wheel, each of which compares 38 MB byte by byte: in the
second of protocol time that is the default, a warped Broker does little else.
"""


class ApacheBrokerTarget:
    """``apache:VERSION[?warp=N]``."""

    waits_alone = False

    def __init__(self, uri: str, version: str, warp: float) -> None:
        self.uri = uri
        self.nature = Nature(scheme="apache", starts="slowly", warp=warp)
        self._version = version
        self._warp = warp
        self.server = f"apache-broker@{version}"
        self.line = line_of(version)

    def start(self) -> BrokerProcess:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> BrokerProcess:
        """Fetches what is missing and starts it. Raises ``TargetError`` with what to do where it cannot."""
        java = java_command("Apache's Broker")
        environment = faketime.environment(self._warp)
        classpath = maven.classpath(self._version, _ARTIFACT)

        def command(nameservers: tuple[str, ...]) -> Command:
            return Command(
                name=f"Apache's Broker {self._version}",
                description=self._description(),
                arguments=lambda port, home: _arguments(
                    java, classpath, port, home, setup, nameservers, self._warp
                ),
                environment=lambda home: {**environment, "ROCKETMQ_HOME": str(home)},
                warp=self._warp,
                start_within=90.0,
                answer_within=30.0,
                must_answer=True,
                wants_tls=demands_tls(setup),
                ports=PORTS,
            )

        return BrokerProcess(command, self._warp, nameservers_in(setup))

    def _description(self) -> str:
        parts = [f"Apache Broker {self._version}"]
        if stand_in := maven.stand_in(self._version, _ARTIFACT):
            parts.append(stand_in)
        if self._warp != 1:
            parts.append(f"time x{self._warp:g}")
        return ", ".join(parts)


def _arguments(
    java: str,
    classpath: str,
    port: int,
    home: Path,
    setup: Setup,
    nameservers: tuple[str, ...],
    warp: float,
) -> Sequence[str]:
    (home / "store").mkdir(exist_ok=True)
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
        **in_directory(setup, home),
    }
    settings = {key: with_nameservers(value, nameservers) for key, value in settings.items()}
    return launch([java, *_JVM], classpath, _MAIN, home, "broker", settings)
