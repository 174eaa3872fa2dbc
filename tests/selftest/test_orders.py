"""A verdict depends neither on the order of the cases nor on which others run."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.results import Verdict, read_run
from harness.wire import RequestCode

Verdicts = dict[str, tuple[Verdict, str]]


def verdicts(out: Path, *arguments: str) -> Verdicts:
    """The verdict of each case, and what it is blocked by."""
    main(["check", *arguments, "--out", str(out)])
    return {one.case: (one.verdict, one.blocked_by) for one in read_run(out).results}


MUTANTS = {
    "serves-the-essential-only": {Verdict.PASS, Verdict.FAIL, Verdict.BLOCKED, Verdict.DEVIATES},
    "": {Verdict.PASS},
    "unregistration-is-ignored": {Verdict.PASS, Verdict.FAIL, Verdict.BLOCKED},
}
"""What the verdicts on them are."""
FIRST, *OTHERS = itertools.product(MUTANTS.items(), (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("mutant", "kinds", "seed"),
    [
        (*FIRST[0], FIRST[1]),
        *(pytest.param(*one, seed, marks=pytest.mark.soak) for one, seed in OTHERS),
    ],
)
def test_verdicts_are_the_same_in_any_order(
    mutant: str, kinds: set[Verdict], seed: int, tmp_path: Path
) -> None:
    target = "builtin:5.3" + (f"?mutant={mutant}" if mutant else "")
    in_order = verdicts(tmp_path, target)
    assert {verdict for verdict, _ in in_order.values()} == kinds
    assert verdicts(tmp_path, target, "--shuffle", str(seed)) == in_order
    assert read_run(tmp_path).header.seed == seed


def test_verdicts_are_the_same_alone(tmp_path: Path) -> None:
    target = "builtin:5.3?mutant=serves-the-essential-only"
    chapters = "data-version,write-permission,routes"
    whole = verdicts(tmp_path, target, "--select", chapters)
    blocked = [case for case, (verdict, _) in whole.items() if verdict is Verdict.BLOCKED]
    assert len(blocked) > 20
    for case in blocked[::7]:
        assert verdicts(tmp_path, target, "--select", case)[case] == whole[case]


def test_owners_go_ahead_unless_cases_are_shuffled(tmp_path: Path) -> None:
    order: dict[str, list[str]] = {}
    for seed in ("", "1", "2"):
        more = ["--shuffle", seed] if seed else []
        main(["check", "builtin:5.3", "--select", "kv,routes", *more, "--out", str(tmp_path)])
        order[seed] = [one.case for one in read_run(tmp_path).results]
    assert order[""][:6] == [
        "sanity.well-formed-request-is-answered",
        "sanity.connections-are-served-beside-each-other",
        "kv.get-returns-what-was-put",
        "kv.delete-removes",
        "kv.list-has-every-pair",
        "routes.unknown-topic-does-not-exist",
    ]
    assert len({tuple(one) for one in order.values()}) == 3
    assert len({tuple(sorted(one)) for one in order.values()}) == 1
    for one in order.values():
        assert [case.partition(".")[0] for case in one[:2]] == ["sanity", "sanity"]
        assert one[-1] == "endurance.serves-after-everything"


FREEZES_ONCE = f"""
import pathlib, sys, time
from reference_impl import serve
from reference_impl.remoting.requests import RequestTable
mark, sound = pathlib.Path(sys.argv[2]), RequestTable.execute
def execute(self, command, connection, now):
    if command.code == {RequestCode.ADD_WRITE_PERM_OF_BROKER:d} and not mark.exists():
        mark.touch()
        time.sleep(5)
    return sound(self, command, connection, now)
RequestTable.execute = execute
serve.run(host="127.0.0.1", port=int(sys.argv[1]))
"""
"""A server that answers nothing for five seconds, once. argv: its port, and the file that says it did."""


def test_a_server_that_freezes_for_a_while_costs_the_case_in_which_it_did(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(FREEZES_ONCE)
    chapters = ["--profile", "5.5", "--select", "cluster,kv,routes,topic-lists,write-permission"]
    found: dict[str, Verdicts] = {}
    for name in ("frozen", "sound"):
        target = f"exec:{sys.executable} {server} {{port}} {tmp_path / 'mark'}"
        found[name] = verdicts(tmp_path / name, target, *chapters)
    changed = {case for case, verdict in found["frozen"].items() if verdict != found["sound"][case]}
    (hit,) = changed
    assert found["frozen"][hit] == (Verdict.FLAKY, "")
    assert hit.startswith("write-permission.")


def test_notifications_may_come_on_connections_of_their_own_in_any_order(tmp_path: Path) -> None:
    server = Path(__file__).with_name("scattering_server.py")
    target = f"exec:{sys.executable} '{server}' {{port}} {{dir}} {{config}}"
    seen = verdicts(tmp_path, target, "--profile", "5.3", "--select", "notification", "--fast")
    assert {verdict for verdict, _ in seen.values()} == {Verdict.PASS}
