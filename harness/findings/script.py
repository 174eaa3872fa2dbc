"""The script of a finding: one file that needs Python and nothing else.

Invariants:
- The script is made of the sources of `_PARTS`, behind a head for people; what it plays is at its end, as
  JSON. So `replay` and the script do the same, and one test of them is a test of both.
- What decides whether the failure shows is fixed here, once: the decisive fact, and the steps that bring the
  server there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.findings.replay_answers import AnswerReader
from harness.spec import Violation
from harness.wire.requests import REQUESTS

_FIELDS = ("outcome", "code")
_ALL_FIELDS = (*_FIELDS, "ext", "body", "bytes", "length", "flag")
"""Of an answer; texts of remarks and ways of writing JSON say nothing."""
OUTCOMES = ("answer", "closed", "silence", "dead")
"""Actions that are rows when they are played."""

_PARTS = ("replay_names.py", "replay_answers.py", "replay_facts.py", "replay_core.py", "replay_main.py")
_OF_THE_HARNESS = re.compile(r"^from harness\.\S+ import .*\n", re.MULTILINE)
_HEAD = re.compile(r'\A"""(.*?)"""\n+from __future__ import annotations\n', re.DOTALL)
_ALL = re.compile(r"^__all__ = \[.*?\]\n", re.MULTILINE | re.DOTALL)


def decides(violation: Violation, kind: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The fact that decides a finding of a kind, of several records that show it: the first difference of its
    answer; where that was not compared, whatever of the decisive answer was the same in all of them.
    """
    if violation.differences:
        first = msgspec.to_builtins(violation.differences[0])
        assert isinstance(first, dict)
        return first
    decisive = {
        tuple(said for action, said in _outcomes(one) if action.get("decisive")) for one in records
    } - {()}
    stable = kind != "frames" and len(decisive) == 1
    return {"fields": list(_ALL_FIELDS if stable else _FIELDS), "both": kind == "diff"}


def rows_that_count(records: Sequence[dict[str, Any]]) -> list[int]:
    """The rows of the first record that a failure follows from: the decisive one, and those before it of
    requests that change something and have come to the same whenever the failure was seen.
    """
    kept, *others = [_outcomes(record) for record in records]
    counted = [number for number, (action, _) in enumerate(kept) if _counts(action)]
    lists = [[said for action, said in one if _counts(action)] for one in others]
    rows: list[int] = []
    for place, number in enumerate(counted):
        action, said = kept[number]
        if action.get("decisive"):
            rows.append(number)
            if not any(later.get("decisive") for later, _ in kept[number + 1 :]):
                return rows
            continue
        is_stable = all(place < len(one) and _class_of(one[place]) == _class_of(said) for one in lists)
        if is_stable and action["do"] in ("answer", "silence") and _changes(action):
            rows.append(number)
    return rows


def _changes(action: dict[str, Any]) -> bool:
    form = REQUESTS.get(action.get("asked", 0))
    return form is not None and not form.read_only


def _class_of(said: str) -> str:
    """Success, refusal, or no answer, of what an outcome says as JSON."""
    return said if not said.startswith("{") else "success" if '"code": 0' in said else "refusal"


def _counts(action: dict[str, Any]) -> bool:
    return bool(action.get("counts", True))


def _outcomes(record: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Each outcome, and what it says with names that are the same in every record."""
    marks = {name: f"nonce{number}" for number, name in enumerate(record["nonces"])}
    numbered = sorted(record["addresses"], key=lambda text: [int(part) for part in re.split(r"[.:]", text)])
    marks.update((name, f"address{number}") for number, name in enumerate(numbered))
    pattern = re.compile("|".join(map(re.escape, marks)) or "(?!)")
    answers = AnswerReader(record["rules"], lambda text: pattern.search(text) is not None)
    found = []
    for action in record["actions"]:
        if action["do"] == "answer":
            data = bytes.fromhex(action["data"])
            text = json.dumps(answers.read(data, action["asked"]), sort_keys=True)
            found.append((action, pattern.sub(lambda name: marks[name[0]], text)))
        elif action["do"] in OUTCOMES:
            found.append((action, action["do"]))
    return found


def script_of(record: dict[str, Any], *, head: str, title: str, expected: str, actual: str) -> str:
    """The script. `head` is what a person reads first; `record` has ``must``."""
    home = Path(__file__).parent
    parts = [_source(home / name) for name in _PARTS]
    played = {"title": title, "expected": expected, "actual": actual, **record}
    actions = ",\n".join("  " + json.dumps(action, ensure_ascii=True) for action in played.pop("actions"))
    facts = json.dumps(played, ensure_ascii=True, indent=1)[1:-2]
    data = f'{{{facts},\n "actions": [\n{actions}\n ]\n}}'
    return "\n".join(
        [
            "#!/usr/bin/env python3",
            'r"""' + head.replace('"""', "'''") + '\n"""',
            "",
            "from __future__ import annotations",
            "",
            *parts,
            "",
            "# --- what is played " + "-" * 60,
            "",
            "RECORD = json.loads(r'''\n" + data.replace("'''", r"\u0027\u0027\u0027") + "\n''')",
            "",
            'if __name__ == "__main__":',
            "    sys.exit(run(RECORD, sys.argv[1:]))",
            "",
        ]
    )


def _source(path: Path) -> str:
    """A module without its head, its own imports and its list of names."""
    text = path.read_text(encoding="utf-8")
    for pattern in (_HEAD, _OF_THE_HARNESS, _ALL):
        text = pattern.sub("", text, count=1 if pattern is _HEAD else 0)
    return text.strip()
