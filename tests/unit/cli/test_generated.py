"""Faults that a program makes: which there are, how they get into a server, and what is said of them."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from harness.catalogue import Role
from harness.cli import main
from harness.cli.measures import faults as measure
from harness.cli.measures import meeting, trying
from harness.cli.measures.explained import read_explained
from harness.cli.measures.faults import KINDS
from harness.cli.measures.meeting import trials_of
from harness.cli.measures.trying import Outcome, Ran, Trial, Work, how_of, tried
from harness.report.results import Verdict
from reference_impl.mutants.generated import Fault, LiveFunctions, fault_at, sites_of

SOURCE = '''
class Table:
    def __init__(self):
        self.rows = {}

    @property
    def size(self):
        return len(self.rows)

    def put(self, key, value):
        if key in self.rows and value is None:
            del self.rows[key]
        elif value is not None:
            self.rows[key] = value
        for other in (1, 2, 3):
            self.rows.setdefault(other, 0)
        raise_if(len(self.rows) > 99)


def raise_if(is_wrong):
    """Nothing else."""
    if is_wrong:
        raise ValueError("too many")
'''


def faults(source: str = SOURCE) -> dict[str, Fault]:
    found = [fault_at(site, source) for site in sites_of("x/table.py", source)]
    return {one.name.removeprefix("x/table.py::"): one for one in found if one is not None}


def test_every_kind_of_change_has_a_name_that_says_it() -> None:
    names = faults()
    for name in (
        "Table.put: if key in self.rows and value is None: → if key not in self.rows and value is None:",
        "Table.put: if key in self.rows and value is None: → if key in self.rows or value is None:",
        "Table.put: if key in self.rows and value is None: → if value is None:",
        "Table.put: del self.rows[key] → pass",
        "Table.put: self.rows[key] = value → pass",
        "Table.put: for other in (1, 2, 3): → for other in (1, 2, 3): [only the first]",
        "Table.put: for other in (1, 2, 3): → for other in (2, 3):",
        "Table.put: raise_if(len(self.rows) > 99) → raise_if(len(self.rows) > 98)",
        "Table.size: return len(self.rows) → return",
        "raise_if: raise ValueError('too many') → pass",
    ):
        assert name in names, name
    assert len(names) == len({one.site for one in names.values()})
    assert not any("Nothing else" in name for name in names), "a docstring is no fault"


def test_a_name_holds_while_lines_move() -> None:
    assert list(faults("# a new line\n" + SOURCE)) == list(faults())


def test_words_of_diagnostics_stay_as_they_are() -> None:
    call = "reading.odd('member-unknown', 'nothing reads it', at - 1, at + 1)"
    assert list(faults(f"def f(reading, at):\n    {call}\n")) == [f"f: {call} → pass"]


def test_changes_that_read_the_same_are_counted() -> None:
    source = "def f(a):\n    a.x()\n    a.x()\n"
    names = [name for name in faults(source) if "pass" in name]
    assert names == ["f: a.x() → pass", "f: a.x() → pass #2"]


@pytest.fixture
def table(tmp_path: Path) -> ModuleType:
    path = tmp_path / "table_of_faults.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("table_of_faults", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_a_fault_gets_into_objects_that_exist_already(table: ModuleType) -> None:
    path = str(table.__file__)
    live = LiveFunctions({path})
    one = table.Table()
    live.install(faults()["Table.put: self.rows[key] = value → pass"].site, SOURCE, path)
    one.put("a", 1)
    assert one.rows == {1: 0, 2: 0, 3: 0}
    live.install(faults()["Table.size: return len(self.rows) → return"].site, SOURCE, path)
    assert one.size is None


def test_a_function_that_is_not_loaded_is_said(tmp_path: Path) -> None:
    site = next(sites_of("x/table.py", SOURCE))
    with pytest.raises(LookupError, match=r"no function \S+ of /nowhere/table\.py"):
        LiveFunctions({"/nowhere/table.py"}).install(site, SOURCE, "/nowhere/table.py")


def test_explained_survivors_have_a_kind_and_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "explained.yaml"
    path.write_text('- equivalent: both are true\n  of: ["f: a → b", "f: a → c"]\n')
    assert read_explained(path, KINDS) == dict.fromkeys(("f: a → b", "f: a → c"), "equivalent: both are true")
    for wrong, why in (
        ('- boring: really\n  of: ["f: a → b"]\n', "entry 1 has the kind boring; expected .* equivalent"),
        ("- equivalent: both are true\n", "entry 1 has equivalent; expected .* a list of names"),
        ("- equivalent: both\n  of: [f]\n- free: it\n  of: [f]\n", "entry 2: f is explained twice"),
        ('"f: a → b":\n  equivalent: both are true\n', "Expected `array"),
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=why):
            read_explained(path, KINDS)


def test_a_survivor_is_a_miss_until_it_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list(faults().values())[:3]
    outcomes = [Outcome("failure", "kv.x", "5.3", "no"), Outcome("unseen"), Outcome("unseen")]
    tried = [measure.Tried(*one, 5) for one in zip(made, outcomes, strict=True)]
    explained = {made[1].name: "free: either will do", made[0].name: "free: or so we thought"}

    def measured(options: object, known: dict[str, str], people: object) -> tuple[list[measure.Tried], bool]:
        return [msgspec.structs.replace(one, explained=known.get(one.fault.name, "")) for one in tried], True

    monkeypatch.setattr(measure, "_measured", measured)
    path = tmp_path / "explained.yaml"
    path.write_bytes(
        msgspec.yaml.encode([dict([why.split(": ")]) | {"of": [name]} for name, why in explained.items()])
    )
    arguments = ["selftest", "--generated", "3", "--json", "--out", str(tmp_path), "--explained", str(path)]
    assert main(arguments) == 1
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    assert (answer["missed"], answer["explained"], answer["rate"]) == (1, 1, 50.0)
    assert answer["explained_in_vain"] == [made[0].name]
    assert f"✘ {made[2].site.file}:{made[2].site.line}" in shown.err
    assert made[1].name not in shown.err


@pytest.mark.parametrize(
    ("verdict", "lives", "how"),
    [
        (Verdict.PASS, True, "unseen"),
        (Verdict.UNSUPPORTED, True, "unseen"),
        (Verdict.FAIL, True, "failure"),
        (Verdict.DEVIATES, True, "failure"),
        (Verdict.FAIL, False, "crash"),
        (Verdict.BLOCKED, False, "crash"),
        (Verdict.BLOCKED, True, "blocked"),
    ],
)
def test_a_case_notices_what_it_fails_at(verdict: Verdict, lives: bool, how: str) -> None:
    assert how_of(verdict, lives) == how


FILE = "x/table.py"
SITE = next(sites_of(FILE, SOURCE))


def ran_by(names: tuple[str, ...], *near: str) -> Ran:
    """All of these run the place, and some of them a line near it."""
    return Ran({FILE: {SITE.line: list(names), SITE.end + 1: list(near)}}, dict.fromkeys(names, 0.25))


def test_a_fault_meets_the_cases_that_run_its_lines() -> None:
    work = Work("broker", "5.3", ("a.x", "b.x", "c.x", "d.x"))
    assert trials_of(SITE, [work], [ran_by(("d.x", "b.x"), "c.x")]) == (
        Trial((Work("broker", "5.3", ("b.x", "d.x")),), 16),
    )
    assert trials_of(SITE, [work], [ran_by(("", "b.x"))])[-1].works == (work,)
    assert trials_of(SITE, [work], [Ran({}, {})])[-1].works == ()


def test_of_many_cases_those_near_the_place_and_some_of_all_come_first() -> None:
    names = tuple(f"chapter-{number // 40}.case-{number}" for number in range(200))
    first, everything = trials_of(SITE, [Work("broker", "5.3", names)], [ran_by(names, names[133])])
    assert everything.works[0].cases == names
    assert everything.seconds == 15 + 50
    few = first.works[0].cases
    assert few[0] == names[133]
    assert set(few) < set(names)
    assert {one.partition(".")[0] for one in few} == {f"chapter-{number}" for number in range(5)}
    assert first.seconds < everything.seconds


@pytest.mark.parametrize("few", [Outcome(how) for how in ("unseen", "blocked", "crash", "hang")])
@pytest.mark.parametrize("all_of_them", [Outcome(how) for how in ("unseen", "failure", "crash", "hang")])
def test_the_first_cases_change_nothing_but_the_time(
    few: Outcome, all_of_them: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = iter([few, all_of_them])
    monkeypatch.setattr(trying, "in_a_fork", lambda *_: msgspec.to_builtins(next(came)))
    assert tried(SITE, [Trial((), 15), Trial((), 65)]) == all_of_them


def test_a_first_case_that_fails_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    came = iter([Outcome("failure", "kv.x", "5.3", "no")])
    monkeypatch.setattr(trying, "in_a_fork", lambda *_: msgspec.to_builtins(next(came)))
    assert tried(SITE, [Trial((), 15), Trial((), 65)]) == Outcome("failure", "kv.x", "5.3", "no")


def test_what_the_start_of_a_shared_server_runs_is_run_by_all_that_share_it() -> None:
    work = measure.all_cases("broker", "5.3")[0]
    acting = "broker-light-heartbeat.registration-says-how-long-it-lasts"
    (shared,) = [some for some in trying._sharing(work).values() if acting in some]
    assert "broker-light-heartbeat.is-a-question-for-older-nameservers" in shared
    assert "broker-light-heartbeat.isolated-broker-does-not-register" not in shared, "it has its own"


def test_explanations_without_faults_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--explained", "survivors.yaml"]) == 3
    assert "it belongs to one of --generated" in capsys.readouterr().err


def test_a_change_elsewhere_leaves_the_draw_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(number: int) -> list[str]:
        return [one.name for one in measure._drawn("nameserver", 7, number, [{}])]

    files = [f"reference_impl/nameserver/{name}.py" for name in ("core", "kv", "routes")]
    monkeypatch.setattr(measure, "files_of", lambda _: files)
    before = drawn(40)
    monkeypatch.setattr(measure, "files_of", lambda _: [one for one in files if not one.endswith("kv.py")])
    after = drawn(40)
    of_table = [one for one in before if "kv.py" in one]
    assert of_table
    assert [one for one in after if one in before] == [one for one in before if one not in of_table]
    assert before != [one.name for one in measure._drawn("nameserver", 8, 40, [{}])]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="faults are tried in forked processes")
def test_faults_are_drawn_tried_and_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measure.all_cases

    def some_cases(role: Role, profile: str | None) -> list[Work]:
        names = whole(role, "5.3")[0].cases
        return [Work(role, "5.3", tuple(name for name in names if name.startswith("registration.")))]

    monkeypatch.setattr(measure, "all_cases", some_cases)
    monkeypatch.setattr(meeting, "MANY", 0)
    monkeypatch.setattr(meeting, "_FEW", 2)
    monkeypatch.setattr(measure, "files_of", lambda _: ["reference_impl/nameserver/routes.py"])
    arguments = ["selftest", "--generated", "4", "--seed", "2", "--json"]
    assert main([*arguments, "--out", str(tmp_path)]) in (0, 1)
    answer = json.loads(capsys.readouterr().out)
    assert answer["faults"] == 4
    assert sum(answer["noticed"].values()) + answer["missed"] + answer["not_run"] == 4
    assert sum(answer["noticed"].values()) > 0
    assert json.loads((tmp_path / "generated-nameserver.json").read_bytes()) == answer
