"""Which statements of the servers no case runs: what is counted, what is explained, and what fails."""

from __future__ import annotations

import io
import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.measures import coverage, covering
from harness.cli.measures.coverage import coverage_of
from harness.cli.measures.trying import Ran, Work
from reference_impl.mutants.generated import statements_of

SOURCE = '''
class Table:
    """Rows."""

    def put(self, key, value):
        """Keeps a row."""
        known: dict
        known = self.rows
        if (
            key in known
            and value is None
        ):
            del known[key]
            return
        try:
            known[key] = value
        except TypeError:
            return

    def scan(self):
        raise NotImplementedError

    def __repr__(self):
        return "Table"


def codec(value):
    return value


def client(value):
    return value
'''


def test_statements_that_do_something_are_counted() -> None:
    found = {name: [one.name for one in some] for name, some in statements_of("x/table.py", SOURCE)}
    assert found["Table.put"] == [
        "x/table.py::Table.put: known = self.rows",
        "x/table.py::Table.put: if key in known and value is None:",
        "x/table.py::Table.put: del known[key]",
        "x/table.py::Table.put: return",
        "x/table.py::Table.put: try:",
        "x/table.py::Table.put: known[key] = value",
        "x/table.py::Table.put: except TypeError:",
        "x/table.py::Table.put: return #2",
    ]
    assert found["Table.scan"] == [], "an abstract method does nothing"
    assert "Table.__repr__" not in found


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> None:
    """One file that both roles have, and one of the codec, with the same code."""
    files = ["reference_impl/remoting/table.py", "harness/wire/table.py"]
    monkeypatch.setattr(coverage, "files_of", lambda _: files)
    monkeypatch.setattr(coverage, "sources_of", lambda names: dict.fromkeys(names, SOURCE))


@pytest.mark.usefixtures("source")
def test_a_statement_runs_if_any_run_of_the_catalogue_ran_a_line_of_its_head() -> None:
    first = {"reference_impl/remoting/table.py": {8: ["a"], 10: ["a"], 13: ["a"]}}
    second = {"reference_impl/remoting/table.py": {8: ["b"], 15: ["b"], 16: ["b"], 28: [""]}}
    found, codec = coverage_of([first, second])
    assert [one.name.rpartition("::")[2] for one in found.not_run] == [
        "Table.put: return",
        "Table.put: except TypeError:",
        "Table.put: return #2",
        "client: return value",
    ]
    assert found.statements == 10
    assert codec.statements == 0, "a function of the codec that no server runs is not the server's"


@pytest.mark.usefixtures("source")
def test_what_no_case_runs_fails_until_it_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {"reference_impl/remoting/table.py": {line: ["a"] for line in (8, 9, 13, 14, 15, 16, 28)}}
    monkeypatch.setattr(coverage, "_measured", lambda *_: [lines])
    name = "reference_impl/remoting/table.py::"
    path = tmp_path / "not_run.yaml"
    arguments = ["selftest", "--coverage", "--json", "--out", str(tmp_path)]

    assert main(arguments) == 1
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    assert (answer["statements"], answer["run"], answer["missed"]) == (10, 7, 3)
    assert json.loads((tmp_path / "coverage.json").read_bytes()) == answer
    assert "table.py: no case runs 3 of 10 statements" in shown.err
    assert "3 STATEMENTS THAT NO CASE RUNS, exit 1" in shown.err

    either = ["Table.put: except TypeError:", "Table.put: return #2"]
    whole = f"- free: either\n  of: {json.dumps([name + one for one in either])}\n"
    whole += f'- no case yet: a second client\n  of: ["{name}client: return value"]\n'
    path.write_text(whole)
    assert main([*arguments, "--explained", str(path)]) == 0
    shown = capsys.readouterr()
    assert (json.loads(shown.out)["explained"], json.loads(shown.out)["owed"]) == (2, 1)
    assert "EVERY STATEMENT RUN OR EXPLAINED, exit 0" in shown.err

    path.write_text(whole + f'- unreachable: never\n  of: ["{name}Table.put: return"]\n')
    assert main([*arguments, "--explained", str(path)]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["explained_in_vain"] == [f"{name}Table.put: return"]
    assert "EXPLANATIONS IN VAIN, exit 1" in shown.err

    path.write_text(f'- boring: never\n  of: ["{name}Table.put: return"]\n')
    assert main([*arguments, "--explained", str(path)]) == 3
    assert (
        "expected entries of one of unreachable, not visible, free, tested, no case yet"
        in capsys.readouterr().err
    )


def test_measures_take_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    for given, words in (
        (["--coverage", "--role", "broker"], "--role: --coverage takes every case of both roles"),
        (["--coverage", "--select", "kv"], "--select: --coverage takes every case of both roles"),
        (["--generated", "3", "--mutant", "x"], "--mutant: --generated takes every case of the role"),
        (
            ["--generated", "3", "--coverage"],
            "--generated and --coverage: each is a measure of its own; give one at a time",
        ),
    ):
        assert main(["selftest", *given]) == 3
        assert words in capsys.readouterr().err


def test_lines_are_measured_again_when_what_decides_them_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "code.py"
    monkeypatch.setattr(covering, "_inputs", lambda: [source])
    ran: list[Work] = []
    found = Ran({"a.py": {3: ["kv.x", ""]}}, {"": 0.5, "kv.x": 0.25})

    class Pool(ThreadPoolExecutor):
        def submit(self, act: object, *works: object, **_: object) -> Future[object]:  # type: ignore[override]
            ran.extend(work for work in works if isinstance(work, Work))
            done: Future[object] = Future()
            done.set_result(found)
            return done

    work = Work("nameserver", "5.3", ("kv.x",))
    for text, of, number in (("1", work, 1), ("1", work, 1), ("2", work, 2), ("2", Work(*OTHER), 3)):
        source.write_text(text)
        assert covering.lines_run(Pool(), [of], tmp_path, io.StringIO()) == [found]
        assert len(ran) == number
    assert [path.name.rpartition("-")[0] for path in (tmp_path / "covered").iterdir()] == ["nameserver-5.3"]


OTHER = ("nameserver", "5.3", ("kv.x", "kv.y"))
