"""In which way an answer is wrong, in words that are the same for all cases of one cause.

Pure. Names, addresses and ports that a run made stand as ``*``, positions in lists as ``[]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from harness.conformance.matchers import ABSENT, Including, Path, below
from harness.report.results import CLOSED, NO_FLAG, SILENCE, STRANGE_OPAQUE, WRONG_LENGTH, Change, Wrong
from harness.session.outcome import UNFLAGGED, ClosedBy, Garbled, Outcome, Replied, Silent
from harness.wire.code_names import request_name, response_name

if TYPE_CHECKING:
    from harness.session.exchange import View

_NAMES_OF_PARTS: Final = {"serialization": "serializeTypeCurrentRPC", "ext": "extFields"}
_MADE: Final = re.compile(r"^\d|[^A-Za-z0-9_]")
"""A key that is no name of the protocol: made by the run, a number, an address."""
_NOTHING: Final = object()


def code_name(code: int, *, is_response: bool = True) -> str:
    """A code as people know it: `TOPIC_NOT_EXIST (17)`, or the bare number of an unknown one."""
    name = response_name(code) if is_response else request_name(code)
    return str(code) if name is None else f"{name} ({code})"


def answer_words(outcome: Outcome) -> str:
    """What came, without what is in it."""
    if isinstance(outcome, Replied):
        return code_name(outcome.command.code, is_response=outcome.command.is_response)
    if isinstance(outcome, ClosedBy):
        return CLOSED if outcome.by == "target" else "closed by the case"
    if isinstance(outcome, Garbled):
        return WRONG_LENGTH if outcome.lengths else "no command"
    if outcome.mistaken is not None:
        return NO_FLAG if outcome.mistaken.why == UNFLAGGED else STRANGE_OPAQUE
    return SILENCE if isinstance(outcome, Silent) else "no answer"


def not_utf8(outcome: Outcome) -> Wrong | None:
    """That a body of JSON is in another encoding, which is what is wrong wherever it shows."""
    if not isinstance(outcome, Replied) or outcome.command.body[:1] not in (b"{", b"["):
        return None
    try:
        outcome.command.body.decode("utf-8")
    except UnicodeDecodeError:
        return Wrong(kind="member", place="body", change="not in UTF-8")
    return None


def place_in_part(part: str, path: Path, value: object) -> str:
    """A place in a part of a reply as `Reply` names it: ``extFields.haServerAddr``, ``remark``."""
    return _NAMES_OF_PARTS.get(part, part) + _steps(path, value, ())


def place_in_view(view: View, path: Path = (), value: object = None) -> str:
    """A place in what a view shows: ``body.brokerDatas.*.brokerAddrs``, ``body.queueDatas.*.perm``."""
    if view.path is not None:
        return "body" + _steps(view.path, None, ()) + _steps(path, value, view.columns)
    if len(view.columns) == 1:
        return f"extFields.{view.columns[0]}"
    return ("extFields" if view.columns else view.name) + _steps(path, value, view.columns)


def place_in_body(path: Path) -> str:
    """A place in a body that is no part of a view: ``body.queueDatas[].topicSysFlag``."""
    return "body" + _steps(path, None, ())


def _steps(path: Path, value: object, columns: tuple[str, ...]) -> str:
    """The path from the value on. Positions in a tuple mean something, those in a list do not."""
    words = ""
    for step in path:
        if isinstance(value, tuple) and isinstance(step, int):
            words += f".{columns[step]}" if step < len(columns) else f"[{step}]"
        elif isinstance(step, int) and not isinstance(value, Mapping):
            words += "[]"
        else:
            words += ".*" if is_made(step) else f".{step}"
        value = below(value, step, _NOTHING)
    return words


def is_made(step: object) -> bool:
    """Whether a step of a path is a number or name that is not the protocol's."""
    return isinstance(step, int) or _MADE.search(str(step)) is not None


def change_at(pattern: object, actual: object, path: Path, *, is_entry: bool = False) -> Change:
    """How the value differs from the pattern at the end of the path. ``is_entry``: the value is what a table
    holds under a name that the run made.
    """
    if is_entry and not path and (pattern is None or actual is None):
        return "fewer" if actual is None else "more"
    for number, step in enumerate(path):
        wanted, came = below(pattern, step, _NOTHING), below(actual, step, _NOTHING)
        if came is _NOTHING or (wanted is _NOTHING and number + 1 == len(path)):
            if is_made(step):
                return _entries(pattern, actual)
            return "absent" if came is _NOTHING else "added"
        if isinstance(step, int) and isinstance(pattern, list) and len(path) == number + 1:
            return _entries(pattern, actual)
        pattern, actual = wanted, came
    return _change(pattern, actual)


def _change(pattern: object, actual: object) -> Change:
    if pattern is ABSENT or pattern is None:
        return "added"
    if actual is None:
        return "absent"
    if isinstance(pattern, Including) and not isinstance(actual, str | bytes | Mapping):
        return "fewer"
    if isinstance(pattern, list | tuple | set | frozenset | Mapping):
        return _entries(pattern, actual)
    plain = isinstance(pattern, str | bytes | int | float)
    if plain and type(pattern) is not type(actual) and not isinstance(pattern, type(actual)):
        return "of another type"
    return "different"


def _entries(pattern: object, actual: object) -> Change:
    """Of two collections: the actual one has more, fewer or other entries, or the same in another order."""
    wanted, came = _listed(pattern), _listed(actual)
    if wanted is None or came is None:
        return "different" if wanted is None else "of another type"
    more = [one for one in came if one not in wanted]
    fewer = [one for one in wanted if one not in came]
    if more and fewer:
        return "others"
    if more:
        return "more"
    if fewer:
        return "fewer"
    if len(came) != len(wanted):
        return "repeated" if len(came) > len(wanted) else "fewer"
    return "in another order"


def _listed(value: object) -> list[object] | None:
    """What a collection holds; of a mapping the keys."""
    if isinstance(value, Including):
        value = value.items
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return list(value)
    return None
