"""The reference of faults is made of the docstrings, and its example runs.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/testing/test_fault_page.py` writes the page anew.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unit.testing.sample_application.client import Client
from unit.testing.sample_application.shop import Books, Sender, Shop

from harness.testing.faults import Faults
from harness.testing.servers import ServerFaults
from harness.wire.code_names import request_words
from reference_impl.serve.faults import WORDS

PAGE = Path(__file__).parents[3] / "docs/reference/testing-faults.md"
_MADE_FROM_HERE = "## Words for requests\n"
_LEFT_OUT = {"end_all", "call", "bring_back"}


class OneShop:
    """What the example tests."""

    def __init__(self, namesrv: str) -> None:
        self.order = Shop(Sender(Client(namesrv)), Books()).order


def documented(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods, as they stand in the class."""
    for name, method in vars(kind).items():
        if inspect.isfunction(method) and not name.startswith("_") and name not in _LEFT_OUT:
            yield name, method


def page() -> str:
    parts = [_introduction() + _MADE_FROM_HERE, *_words()]
    parts.append("\n## Faults of requests, messages, groups and routes\n")
    parts += [_section(name, method) for name, method in documented(Faults)]
    parts.append("\n## Servers that go away\n")
    parts += [_section(name, method) for name, method in documented(ServerFaults)]
    return "\n".join(parts) + "\n"


def _introduction() -> str:
    """What is written by hand: the beginning of the page."""
    return PAGE.read_text(encoding="utf-8").partition(_MADE_FROM_HERE)[0]


def _words() -> Iterator[str]:
    yield "| `code=` | requests |\n|---|---|"
    for word, codes in WORDS.items():
        yield f'| `"{word}"` | {", ".join(request_words(code) for code in sorted(codes))} |'


def _section(name: str, method: Callable[..., Any]) -> str:
    shown = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            shown.append("…")
        elif parameter.kind is parameter.VAR_POSITIONAL:
            shown.append(f"*{parameter.name}")
        elif parameter.default is parameter.empty:
            shown.append(parameter.name)
        else:
            shown.append(f"{parameter.name}={parameter.default!r}")
    return f"### `{name}({', '.join(shown)})`\n\n{inspect.getdoc(method)}\n"


def test_every_fault_says_what_it_finds() -> None:
    for kind in (Faults, ServerFaults):
        for name, method in documented(kind):
            assert "Finds" in (method.__doc__ or "") or name.startswith("start_"), name


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew with UPDATE_SNAPSHOTS=1"


def test_the_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", _introduction(), re.DOTALL)
    names: dict[str, Any] = {"Shop": OneShop}
    exec(compile(example, "testing-faults.md", "exec"), names)
    names["test_a_busy_broker"]()
