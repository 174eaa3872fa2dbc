"""Freezes what a redesign must not lose, and compares two such records.

    python tests/quality/baseline record DIRECTORY [--full N]
    python tests/quality/baseline compare BEFORE AFTER

`record` runs the `rmq-harness` of the tree it is started in, through its command line alone, so that the same
script measures any commit. It writes

- `cases.json`: for each role and profile the cases, with their chapter, level and statements;
- `kills.json`: for each role which cases kill which mutant under which profile, as the cases declare it;
- `diff.json`: for each mutant of `drawn-for-diff.txt`, whether `diff` tells it from the reference;
- `full.json` with `--full N`: all cases, not only those that declare it, on the first N of the drawn mutants;
- `live/<target>.json` with `--live TARGET …`: the verdict of each case on that target.

`compare` prints each difference and exits with 1 if there is one. Ids that `specs/renamed.yaml` of this tree
renames count under their new names.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROLES = ("nameserver", "broker")
DIFF_STEPS = "6000"


def rmq(*arguments: str) -> dict[str, Any]:
    """The JSON that a command prints. Raises AssertionError where it prints none."""
    command = [sys.executable, "-c", "import sys; from harness.cli import main; sys.exit(main())", *arguments]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), f"{arguments}: {done.stdout[-500:]}{done.stderr[-2000:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def listed(role: str, profile: str) -> dict[str, Any]:
    """The cases of a profile, by id."""
    found = rmq("check", "--list", "--role", role, "--profile", profile)["cases"]
    return {one["case"]: [one["chapter"], one["level"], *sorted(one["statements"])] for one in found}


def kills(role: str, *more: str) -> dict[str, list[str]]:
    """The killers of each mutant under each profile."""
    found = rmq("selftest", "--role", role, "--out", "out/baseline", *more)
    return {f"{one['profile']} {one['mutant']}": sorted(one["killed_by"]) for one in found["matrix"]}


def told_apart(mutant: str) -> bool | str:
    """Whether `diff` finds the mutant, on the first profile that has it."""
    for profile in ("5.3", "4.9", "5.5"):
        pair = (f"builtin:{profile}", f"builtin:{profile}?mutant={mutant}")
        try:
            found = rmq("diff", *pair, "--steps", DIFF_STEPS, "--seed", "baseline")
        except AssertionError:
            continue
        return bool(found["exit_status"])
    return "not measured"


def drawn(name: str) -> list[str]:
    """A sample of mutants."""
    return (HERE / name).read_text(encoding="utf-8").split()


def write(path: Path, content: Any) -> None:
    """One line for each entry, so that files can be compared by eye as well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(content.items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path}: {len(content)}", flush=True)


def record(directory: Path, full: int, live: list[str], role: str) -> None:
    """Writes a record."""
    for target in live:
        out = directory / "run"
        rmq("check", target, "--role", role, "--out", str(out), "--report", "json")
        results = json.loads((out / "result.json").read_text(encoding="utf-8"))["results"]
        name = f"{role}-{target.partition('?')[0].replace(':', '-')}"
        write(directory / "live" / f"{name}.json", {one["case"]: one["verdict"] for one in results})
    if live:
        return
    matrix = {role: kills(role) for role in ROLES}
    write(directory / "kills.json", {f"{role} {at}": by for role in ROLES for at, by in matrix[role].items()})
    profiles = {role: sorted({at.partition(" ")[0] for at in matrix[role]}) for role in ROLES}
    cases = {f"{role} {profile}": listed(role, profile) for role in ROLES for profile in profiles[role]}
    write(directory / "cases.json", {f"{at} {case}": one for at in cases for case, one in cases[at].items()})
    mutants = drawn("drawn-for-diff.txt")
    write(directory / "diff.json", {name: told_apart(name) for name in mutants})
    if full:
        chosen = [word for name in mutants[:full] for word in ("--mutant", name)]
        write(directory / "full.json", kills("nameserver", "--full", "--profile", "5.3", *chosen))


def under_current_ids(record: dict[str, Any], current: dict[str, str]) -> dict[str, Any]:
    """A record with the ids that statements and cases have now."""
    return {
        " ".join(current.get(word, word) for word in key.split()): (
            sorted(current.get(one, one) for one in value) if isinstance(value, list) else value
        )
        for key, value in record.items()
    }


def compare(before: Path, after: Path) -> int:
    """Prints what differs; returns the exit status."""
    different = 0
    renamed = yaml.safe_load((HERE.parents[2] / "specs" / "renamed.yaml").read_text(encoding="utf-8"))
    current = {old: new for one in renamed for old, new in one["ids"].items()}
    for file in sorted(before.rglob("*.json")):
        name = file.relative_to(before)
        if "run" in name.parts:
            continue
        if not (after / name).exists():
            print(f"{name}: not recorded afterwards")
            different += 1
            continue
        old, new = (
            under_current_ids(json.loads((root / name).read_text(encoding="utf-8")), current)
            for root in (before, after)
        )
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        print(f"{name}: {len(old)} before, {len(new)} after, {len(changed)} different")
        for key in changed:
            print(f"  {key}: {old.get(key, 'absent')} -> {new.get(key, 'absent')}")
        different += len(changed)
    return 1 if different else 0


def main() -> int:
    """Records or compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("directory", type=Path)
    recording.add_argument("--full", type=int, default=0, metavar="N")
    recording.add_argument("--live", action="append", default=[], metavar="TARGET")
    recording.add_argument("--role", choices=ROLES, default="nameserver")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options.before, options.after)
    record(options.directory, options.full, options.live, options.role)
    return 0


if __name__ == "__main__":
    sys.exit(main())
