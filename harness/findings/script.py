"""The script of a finding: one file that needs Python and nothing else.

Invariants:
- The script is made of the sources of `_PARTS`, behind a head for people; what it plays is at its end, as
  JSON. So `replay` and the script do the same, and one test of them is a test of both.
- Which answers decide whether the failure shows is fixed here, once: those that were the same whenever the
  failure was seen, up to the decisive one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.findings.replay_answers import AnswerReader

OUTCOMES = ("answer", "closed", "silence", "dead")
"""Actions that are rows when they are played."""

_PARTS = ("replay_names.py", "replay_answers.py", "replay_core.py", "replay_main.py")
_OF_THE_HARNESS = re.compile(r"^from harness\.\S+ import .*\n", re.MULTILINE)
_HEAD = re.compile(r'\A"""(.*?)"""\n+from __future__ import annotations\n', re.DOTALL)
_ALL = re.compile(r"^__all__ = \[.*?\]\n", re.MULTILINE | re.DOTALL)


def must_be_same(records: Sequence[dict[str, Any]]) -> list[int]:
    """The rows of the first record that the failure follows from, of several that show the same failure.

    Where the decisive answer is not the same in all of them, it is marked to be compared by its code alone.
    """
    kept, *others = [_outcomes(record) for record in records]
    counted = [number for number, (action, _) in enumerate(kept) if _counts(action)]
    lists = [[said for action, said in one if _counts(action)] for one in others]
    must = []
    for place, number in enumerate(counted):
        action, said = kept[number]
        stable = all(place < len(one) and one[place] == said for one in lists)
        if not stable and action.get("decisive"):
            action["compare"] = ["code", "outcome"]
        if stable or action.get("decisive"):
            must.append(number)
        if action.get("decisive"):
            break
    return must


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
