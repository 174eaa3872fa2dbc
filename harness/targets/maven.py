"""Apache's published jars, fetched with Maven and kept.

- A directory of the cache is complete or does not exist: it is filled beside its place and moved there in one
  step.
- One process fetches, others wait for it.
- A version is taken as it was published. Only where its NameServer is not to be had is it put together,
  openly: see ``COMPOSED`` and ``stand_in``.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from harness.catalogue.versions import numbers
from harness.targets.errors import TargetError

_VERSION = re.compile(r"\d+(\.\d+)+(-[A-Za-z0-9.-]+)?")
_ARTIFACTS = ("bcpkix", "rocketmq-broker", "rocketmq-namesrv", "rocketmq-remoting", "rocketmq-tools")
_TIMEOUT = 900.0


class Composed(msgspec.Struct, frozen=True):
    """How a version is put together whose servers Maven does not have."""

    version: str
    """That of the modules that stand in."""
    differences: dict[str, str]
    """By module that stands in: in what it differs from the one of the version, to be said in a report."""

    def properties(self, version: str) -> list[str]:
        """What Maven is called with, to compose the version."""
        return [f"-Drocketmq.version={version}", f"-Drocketmq.server.version={self.version}"]


COMPOSED: dict[str, Composed] = {
    "4.9.8": Composed(
        "4.9.7",
        {
            "rocketmq-namesrv": "the black list of code 318",
            "rocketmq-broker": "the black list of code 25, and code 54",
        },
    ),
}
"""By version. Source: what Maven has, and the difference of the two tags in the modules' src/main."""
INCOMPLETE = frozenset({"5.3.4"})
"""Maven has the servers' modules and none of their libraries, and they call methods that those of the release
before do not have.
"""


def classpath(version: str, artifacts: Sequence[str] = ("rocketmq-namesrv",)) -> str:
    """The Java class path of Apache's ``artifacts`` of a version, with all that they need.

    Fetches them where they are not in the cache. Raises ``TargetError`` with what to do where that cannot be
    done.
    """
    return str(jars(version, artifacts) / "*")


def jars(version: str, artifacts: Sequence[str] = ("rocketmq-namesrv",)) -> Path:
    """The directory that holds those jars and nothing else."""
    if not _VERSION.fullmatch(version):
        raise TargetError(
            expected="a version of Apache RocketMQ, such as 4.9.8 or 5.3.3",
            got=repr(version),
            do="name one, as in apache:5.3.3",
        )
    if unknown := [artifact for artifact in artifacts if artifact not in _ARTIFACTS]:
        raise ValueError(f"the pom knows {', '.join(_ARTIFACTS)}, not {', '.join(unknown)}")
    place = _place(version, artifacts)
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with _locked(place.parent / "fetching.lock"):  # Maven's own repository is not made for two at once
        if not place.is_dir():
            _fetch(version, artifacts, place)
    return place


def stand_in(version: str, artifacts: Sequence[str] = ("rocketmq-namesrv",)) -> str:
    """How the jars that were fetched for a version were put together; empty where they are as published."""
    composed, there = COMPOSED.get(version), _place(version, artifacts)
    if composed is None:
        return ""
    found = {
        module: difference
        for module, difference in composed.differences.items()
        if (there / f"{module}-{composed.version}.jar").exists()
    }
    return "; ".join(
        f"its {module} is that of {composed.version}, because Maven has none of {version}, and all else is "
        f"{version} (the two modules differ only in {difference})"
        for module, difference in found.items()
    )


def _place(version: str, artifacts: Sequence[str]) -> Path:
    return cache_directory() / "maven" / "+".join([version, *sorted(artifacts)])


def cache_directory() -> Path:
    """Where fetched things are kept: ``$RMQ_HARNESS_CACHE``, else ``~/.cache/rmq-harness``."""
    chosen = os.environ.get("RMQ_HARNESS_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "rmq-harness"


def _fetch(version: str, artifacts: Sequence[str], place: Path) -> None:
    mvn = shutil.which("mvn")
    if mvn is None:
        raise TargetError(
            expected="Maven, to fetch Apache's published jars",
            got="no command mvn on the PATH",
            do=f"install Maven (package maven), or put the jars of {version} into {place}",
        )
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetching-") as scratch:
        jars_there = Path(scratch) / "jars"
        jars_there.mkdir()
        shutil.copy(_pom(), Path(scratch) / "pom.xml")
        command = [
            mvn,
            "-q",
            "-B",
            "-P",
            ",".join(artifacts),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={jars_there}",
        ]
        done = _run([*command, f"-Drocketmq.version={version}"], Path(scratch), version)
        if done.returncode != 0 and _missing(done.stdout, version) and version in COMPOSED:
            done = _run([*command, *COMPOSED[version].properties(version)], Path(scratch), version)
        if done.returncode != 0 or not any(jars_there.glob("*.jar")):
            raise _not_fetched(version, artifacts, done.stdout, mvn)
        jars_there.rename(place)


def _run(command: list[str], directory: Path, version: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        raise TargetError(
            expected=f"the jars of Apache RocketMQ {version} from Maven",
            got=f"nothing within {_TIMEOUT:g} s",
            do="see whether the Maven repository can be reached, and try again",
        ) from problem


def _not_fetched(version: str, artifacts: Sequence[str], output: str, mvn: str) -> TargetError:
    if missing := _missing(output, version):
        published = _published(missing[0], mvn)
        return TargetError(
            expected="a version of Apache RocketMQ that Maven has",
            got=version,
            why=f"there is no {' and no '.join(missing)} {version}"
            + (f"; of {missing[0]} there are {', '.join(published)}" if published else ""),
            do="name another version",
        )
    said = next((line for line in output.splitlines() if "ERROR" in line), output.strip()[-300:])
    return TargetError(
        expected=f"{', '.join(artifacts)} {version} from Maven",
        got=said.strip() or "no jars and no message",
        do="see whether mvn can reach its repository (proxy, settings.xml), and try again",
    )


def _missing(output: str, version: str) -> list[str]:
    """Modules of Apache's that Maven says it does not have; none where it could not look."""
    if re.search(r"Could not transfer|Unknown host|Connection refused|timed out", output):
        return []
    found = re.findall(rf"org\.apache\.rocketmq:(rocketmq-[a-z-]+):[a-z:]*{re.escape(version)}\b", output)
    return list(dict.fromkeys(found))


def releases(artifact: str) -> dict[str, bool]:
    """Apache's releases, the oldest first, and whether a module of them can run: most are published.

    A release is what Maven has of the client: it was never without one but for those put together here.
    Raises ``TargetError`` where Maven cannot be asked.
    """
    mvn = shutil.which("mvn")
    found = _published(artifact, mvn) if mvn is not None else []
    if mvn is None or not found:
        raise TargetError(
            expected="the list of Apache's releases, from Maven",
            got="no command mvn on the PATH" if mvn is None else f"no versions of {artifact}",
            do="install Maven and see whether it can reach its repository, or name each release",
        )
    every = {*found, *_published("rocketmq-client", mvn), *COMPOSED}
    plain = sorted((one for one in every if re.fullmatch(r"[0-9.]+", one)), key=numbers)
    return {one: one in COMPOSED or (one in found and one not in INCOMPLETE) for one in plain}


def _published(artifact: str, mvn: str) -> list[str]:
    """The versions of a module, newest last, as far as Maven can tell."""
    with tempfile.TemporaryDirectory() as scratch:
        ask = f"-Dartifact=org.apache.rocketmq:{artifact}:LATEST:pom"
        with contextlib.suppress(TargetError):
            _run([mvn, "-q", "-B", "dependency:get", ask, "-Dtransitive=false"], Path(scratch), "")
    known = Path.home() / ".m2" / "repository" / "org" / "apache" / "rocketmq" / artifact
    texts = [found.read_text(encoding="utf-8") for found in sorted(known.glob("maven-metadata-*.xml"))]
    return re.findall(r"<version>([^<]+)</version>", max(texts, key=len)) if texts else []


def _pom() -> Path:
    """The pom: beside this package where it is installed, in ``ci/`` in a checkout."""
    here = Path(__file__).resolve()
    places = (here.parent / "ci" / "pom.xml", here.parents[2] / "ci" / "rocketmq" / "pom.xml")
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"the pom of the real RocketMQ is in none of {', '.join(map(str, places))}")


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    import fcntl  # here: what else is in this module needs no POSIX

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
