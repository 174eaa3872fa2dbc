"""The commands that the documents show run, and end as they should.

The lines of a page run one after the other in one directory, as a reader types them. Something stands in for
what a reader has and this machine has not, and what takes long is made short: `STANDS_FOR` and `SHORTER` say
how. `GIVEN` is what a page takes to be there, `LEFT_OUT` what does not run, and why.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import our_broker, our_cluster
from document_pages import PAGES, ROOT, fences, shell_lines

from harness.session.ports import free_port
from harness.wire import Command, encode

pytestmark = pytest.mark.live

HARNESS = 'exec "@python@" -c "import harness.cli; raise SystemExit(harness.cli.main())"'
STRANGER = '"@python@" "@root@/tests/selftest/strangers/nameserver.py"'
PROGRAMS = {
    "rmq-harness": HARNESS + ' "$@"',
    "pytest": 'exec "@python@" -m pytest "$@"',
    "check-jsonschema": 'exec "@python@" -m check_jsonschema "$@"',
    "my-nameserver": f'exec {STRANGER} "$@" --fault perm-7',
    "old": f'exec {STRANGER} "$@" --fault perm-7',
    "new": f'exec {STRANGER} "$@"',
    "go": f'exec {STRANGER} --port "$4" --fault perm-7',
    "my-broker": HARNESS + ' serve broker --port "$2" --nameserver "$4"',
    "first-trace": 'exec "@python@" -c "import sys, zipfile; file = sys.argv[1]; '
    'print(file, zipfile.ZipFile(file).namelist()[0], sep=chr(35))" "$@"',
    "editor": "exec sed -i 's,reason:.*,reason: It is known.,; s,link:.*,link: https://example.org,' \"$1\"",
}
"""What a reader has, by name, as shell scripts. The servers are a stranger's."""

STANDS_FOR = [
    (r"capture\.pcapng --port 9876", "capture.pcapng"),
    (r"(tcp:\S+ --role broker --nameserver )127\.0\.0\.1:9876", r"\1@beside@"),
    (r"127\.0\.0\.1:9876", "@nameserver@"),
    (r"tcp port 9876", "tcp port @port@"),
    (r"127\.0\.0\.1:10911", "@broker@"),
    (r"\b(10911|9876|9877)\b", "@free@"),
    (r"hdfs:///rmq/", "stored/"),
    (r"spark://host:7077", "local[1]"),
    (r"\$EDITOR", "editor"),
    (r"\$PWD/\.venv/bin/", ""),
    (r"out/(fuzz|diff)/findings/(ns\.[\w.-]+-[0-9a-f]{8}|FOLDER)\b", "$(ls -d out/*/findings/* | head -1)"),
    (r"'(\S+?traces)/campaign=\S+'", r'"$(first-trace \1/*/*/*.zip)"'),
    (r"capture\.pcap(ng)?", "out/seen/recorded.pcap"),
    (r"specs/rendered", "@root@/specs/rendered"),
    (r"\bHEX\b", "@frame@"),
    (r"ns\.chapter\.slug", "ns.kv.get-returns-what-was-put"),
    (r"my-mutant", "kv-keeps-the-first-value"),
]
SHORTER = [
    (r"--runs \d+", "--runs 4"),
    (r"--steps \d+", "--steps 40"),
    (r"--max-time \w+", "--max-time 3s"),
    (r"apache:5\.1\.0\.\.", "apache:5.2.0.."),
    (r"-i lo", "-i lo -a duration:1"),
    (r"--select lease", "--select topics"),
    (r"-k lease", "-k sanity"),
    (r"--select (bk\.pull|ns\.unregistration)", "--select sanity"),
]
LESS = {
    "check": "--select sanity,routes --fast",
    "matrix": "--select sanity",
    "selftest": "--select ns.kv.get-returns-what-was-put",
}
"""What is asked of a command that would do all there is."""
APACHES_OWN = "--select sanity"
"""The same of a check of Apache's servers: other tests judge them."""
NARROWED = {"--select", "--failed", "--records"}

FAULTY = "builtin:5.3?mutant=leases-never-end"
A_TRACE = f"rmq-harness check '{FAULTY}' --select ns.lease.expired-broker-is-removed --out out"
A_DIFFERENCE = "rmq-harness diff builtin:5.3 'exec:./my-nameserver --port {port}' --steps 60 --out out/others"
GIVEN = {
    "docs/guides/fuzzing.md": [A_TRACE, A_DIFFERENCE],
    "docs/guides/comparing-servers.md": [
        f"rmq-harness check builtin:5.3 --select kv --out out/{day}" for day in ("monday", "tuesday")
    ],
    "docs/guides/campaigns.md": [
        A_TRACE.replace("--out out", "--out out/check"),
        f"rmq-harness fuzz '{FAULTY}' --kind stateful --seed 7 --max-time 3s --out out/fuzz",
        A_DIFFERENCE.replace("out/others", "out/diff"),
    ],
    "docs/guides/serving.md": ["echo brokerClusterName=mine > broker.conf"],
    "docs/reference/testing.md": [
        "rmq-harness check 'builtin:5.3?mutant=kv-keeps-the-first-value' --select kv --out out",
        *(
            f'cp "$(ls out/traces/* | head -1)" out/{server}.trace'
            for server in ("broker-a-0", "nameserver-0")
        ),
    ],
    "docs/guides/machine-formats.md": ["rmq-harness record @free@ @nameserver@ --out out/seen"],
    "README.md": [
        "rmq-harness check 'exec:./new --port {port}' --select sanity --write-baseline known.yaml",
        "editor known.yaml",
    ],
    "docs/guides/mining.md": [
        f"rmq-harness campaign builtin:5.3 --runs 4 --seed 1 --out {day}" for day in ("today", "yesterday")
    ],
}
"""Commands by page, run before its own."""
LEFT_OUT = {
    "make": "it is a step of CI by itself",
    "pip": "tests/unit/test_wheel.py installs the wheel",
    "kaitai-struct-compiler": "tests/live/test_kaitai.py reads frames with what it makes",
}
UNTIL_INTERRUPTED = re.compile(r"rmq-harness (serve|record) ")
READY = re.compile(r"ready|listening|recording", re.IGNORECASE)
WITHIN = 900
JUDGES = re.compile(r"rmq-harness (check|matrix|fuzz|diff|fields|replay|campaign) ")
MEASURED = (0, 1, 2)
"""A stranger's server fails, and blocks cases; a command that is wrong, or cannot run, ends with 3 or 4. All
other commands succeed."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


ELSEWHERE = {
    "docs/tutorial.md": "tests/unit/site/test_tutorial.py",
    "docs/guides/own-tests.md": "tests/unit/conformance/test_own_tests.py",
    "docs/guides/testing.md": "tests/unit/site/test_testing_guide.py",
    "docs/guides/clients.md": "tests/unit/site/test_testing_guide.py",
    "docs/guides/testing-time.md": "tests/unit/site/test_testing_guide.py",
    "docs/guides/testing-any-language.md": "tests/live/test_guide_to_any_language.py",
    "docs/reference/control.md": "tests/unit/control/test_page.py",
    "docs/compatibility.md": "`make compatibility`, for an hour",
    "fixtures/README.md": "tests/live/test_golden_frames.py",
}
"""Pages whose commands something else runs."""
SHOWING = [page for page in PAGES if name(page) not in ELSEWHERE]
TAKES_SPARK = {"campaigns", "mining"}


def lines(page: Path) -> Iterator[str]:
    """The commands of a page that run, each with what stands for what."""
    for line in shell_lines(page):
        words = line.split("#")[0].split()
        if words and words[0] not in LEFT_OUT:
            yield line.strip()


def shortened(line: str) -> str:
    for pattern, instead in [*STANDS_FOR, *SHORTER]:
        line = re.sub(pattern, instead, line)
    command = re.sub(r"\s+# .*", "", line)
    words = command.split()
    if words[0] == "rmq-harness" and words[1] in LESS and not NARROWED.intersection(words):
        less = APACHES_OWN if words[1] == "check" and "apache:" in command else LESS[words[1]]
        command = f"{command} {less}"
    if "harness.conformance" in words and "-k" not in words:
        command = f"{command} -k sanity"
    return command


class Reader:
    """Someone who types commands in a directory of his own."""

    def __init__(self, directory: Path, nameserver: str, broker: str, beside: str) -> None:
        """`beside`: where a second NameServer of the Broker may listen."""
        self._directory = directory
        self._stands_for = {
            "nameserver": nameserver,
            "port": nameserver.rpartition(":")[2],
            "broker": broker,
            "beside": beside,
            "root": str(ROOT),
            "python": sys.executable,
            "frame": encode(Command(code=105, ext={"topic": "orders"})).hex(),
        }
        programs = directory / "programs"
        programs.mkdir()
        for name, script in PROGRAMS.items():
            program = programs / name
            program.write_text(f"#!/bin/sh\n{self._filled(script)}\n")
            program.chmod(0o755)
            if name not in ("rmq-harness", "pytest"):
                (directory / name).symlink_to(program)
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }

    def types(self, line: str) -> None:
        """Runs the line; what goes on until it is interrupted is interrupted once it is ready."""
        command = self._filled(line)
        if UNTIL_INTERRUPTED.match(command):
            self._interrupts(command)
            return
        ended = subprocess.run(
            ["sh", "-c", command],
            cwd=self._directory,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        said = f"{command}\n{ended.stdout}{ended.stderr}"
        assert "Traceback" not in said, said
        expected = MEASURED if JUDGES.match(command) else (0,)
        assert ended.returncode in expected, f"status {ended.returncode}: {said}"

    def _filled(self, text: str) -> str:
        for name, value in self._stands_for.items():
            text = text.replace(f"@{name}@", value)
        return re.sub("@free@", lambda _: str(free_port()), text)

    def _interrupts(self, command: str) -> None:
        with subprocess.Popen(
            ["sh", "-c", f"exec {command.split('  #')[0]}"],
            cwd=self._directory,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as going_on:
            assert going_on.stdout is not None
            said = ""
            try:
                for line in going_on.stdout:
                    said += line
                    if READY.search(line):
                        break
                if recorded := re.match(r"rmq-harness record (\d+)", command):
                    self.types(
                        f"rmq-harness check tcp://127.0.0.1:{recorded[1]} --select sanity --out out/passed"
                    )
            finally:
                going_on.send_signal(signal.SIGINT)
            said += going_on.stdout.read()
        assert "Traceback" not in said, said
        assert going_on.returncode in (0, 130), f"status {going_on.returncode}: {command}\n{said}"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=str(page.relative_to(ROOT)), marks=pytest.mark.soak if page.stem in TAKES_SPARK else ()
        )
        for page in SHOWING
        if any(lines(page))
    ],
)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"brokerDatas": [], "queueDatas": [], "filterServerTable": {}}')
    beside = f"127.0.0.1:{free_port()}"
    with (
        our_cluster("5.3", tmp_path) as nameserver,
        our_broker("5.3", f"{nameserver};{beside}", tmp_path) as broker,
    ):
        reader = Reader(tmp_path, nameserver, broker, beside)
        for line in [*GIVEN.get(name(page), ()), *map(shortened, lines(page))]:
            reader.types(line)
        if page.stem == "mining":
            for script in fences(page, "python"):
                (tmp_path / "shown.py").write_text(script)
                reader.types('"@python@" shown.py')


def test_what_stands_for_something_is_in_a_document() -> None:
    shown = "\n".join(line for page in SHOWING for line in shell_lines(page))
    assert [pattern for pattern, _ in [*STANDS_FOR, *SHORTER] if not re.search(pattern, shown)] == []
    assert [word for word in LEFT_OUT if not re.search(rf"^{word}\b", shown, re.MULTILINE)] == []
