"""Starting a server of Apache's in a home of its own: the command, its files, its system properties.

Nothing of the server is changed. A server that is started again in the same home at the
same port finds the configuration file as it has written it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.targets.errors import TargetError
from harness.targets.settings import write_properties

SYSTEM = ("tls.", "com.rocketmq.", "rocketmq.")
"""Settings that Apache takes as system properties (`TlsSystemConfig`, `NettySystemConfig`)."""
_LOGBACK = """\
<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="console"/></root>
</configuration>
"""
"""4.9 does not start without a file of this kind in its home (`NamesrvStartup`, tag rocketmq-all-4.9.8)."""


def launch(
    java: Sequence[str], classpath: str, main: str, home: Path, name: str, settings: Mapping[str, str]
) -> Sequence[str]:
    """The command of a server, whose files it writes into ``home``.

    ``name`` is what Apache calls the server in the names of its files: "namesrv", "broker". ``settings`` has
    ``listenPort``.
    """
    for directory in ("conf", "tmp"):
        (home / directory).mkdir(exist_ok=True)
    (home / "conf" / f"logback_{name}.xml").write_text(_LOGBACK, encoding="utf-8")
    system = {key: value for key, value in settings.items() if key.startswith(SYSTEM)}
    path = home / f"{name}.properties"
    port = f"listenPort={settings['listenPort']}\n"
    if not (path.exists() and port in path.read_text(encoding="latin-1")):
        # Else it is a restart, and the server has written this file (318, 25).
        write_properties(path, {key: value for key, value in settings.items() if key not in system})
    return [
        *java,
        f"-Duser.home={home}",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        *(f"-D{key}={value}" for key, value in system.items()),
        "-cp",
        classpath,
        main,
        "-c",
        str(path),
    ]


def java_command(server: str) -> str:
    """The command that runs Java. Raises ``TargetError`` where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise TargetError(
            expected=f"Java 11 or later, to run {server}",
            got="no command java on the PATH, and none in JAVA_HOME",
            do="install a JDK or JRE (package openjdk-17-jre-headless), or set JAVA_HOME",
        )
    return found
