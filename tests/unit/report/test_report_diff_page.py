"""The page of a comparison: causes first, each with an exchange side by side, and text that stays text."""

from __future__ import annotations

import msgspec
import pytest
from pages import Page

from harness.report.diff_page import Cause, Comparison, Death, Explained, Shown, html, markdown
from harness.report.divergence import Decisive, Exchange, Message, lines, message_of
from harness.wire import Command

HOSTILE = "<script>alert(1)</script> `x` | \x1b[31m \u202e"


def exchange(remark: str = "no") -> Exchange:
    return Exchange(
        before=("REGISTER_BROKER (103): broker b0",),
        step="GET_ROUTEINFO_BY_TOPIC (105): topic T0",
        sent=Message(title="GET_ROUTEINFO_BY_TOPIC (105)", header='{"topic": "T0"}'),
        a=Message(title="SUCCESS (0)", body='{"brokerDatas":[]}'),
        b=Message(title=f'SYSTEM_ERROR (1) "{remark}"'),
        decisive=(Decisive(what="code", a="SUCCESS (0)", b=""),),
    )


def cause(name: str, *folders: str, followed: int = 0, explained: str = "") -> Cause:
    shown = tuple(Shown(exchange=exchange(HOSTILE), what=(name,), folder=one) for one in folders)
    return Cause(
        name=name, times=3, followed=followed, apart=bool(followed), examples=shown, explained=explained
    )


RUN = Comparison(
    conclusion="DIVERGENT",
    exit_status=1,
    a="builtin:5.3",
    b=f"exec:{HOSTILE}",
    profile="5.3",
    seed="7",
    compare="meaning",
    steps=1200,
    asked=2000,
    rounds=9,
    seconds=1.5,
    suite="0",
    causes=(
        cause("the first cause", "findings/one", "findings/two", "", followed=5),
        cause(f"the second {HOSTILE}", ""),
    ),
    releases=(cause("a release difference", "", explained="releases"),),
    quirks=(Explained(name="quirk.some", what="does `it` anyway", steps=4, times=2),),
    deaths=(Death(words="at step 3: A: the target died", folder="findings/dead"),),
    more=2,
    unrepeated=1,
    remarks=("1 divergence that did not show again",),
    unasked=("time passes",),
    avoided=("REGISTER_BROKER (103), one-way",),
)
EMPTY = msgspec.structs.replace(
    RUN,
    conclusion="NOTHING UNEXPLAINED",
    exit_status=0,
    causes=(),
    releases=(),
    quirks=(),
    deaths=(),
    more=0,
    remarks=(),
    unasked=(),
    avoided=(),
)


@pytest.mark.parametrize("run", [RUN, EMPTY])
def test_the_page_is_well_formed_and_loads_nothing(run: Comparison) -> None:
    page = html(run)
    parsed = Page(page)
    assert not {"src", "srcset", "action"} & {name for _, attrs in parsed.elements for name in attrs}
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_causes_come_first_and_what_is_explained_is_folded() -> None:
    page = html(RUN)
    places = [page.index(text) for text in ("the first cause", "the second", "quirk.some", "time passes")]
    assert places == sorted(places)
    folded = page[: page.index("a release difference")]
    assert folded.rindex('<details class="part">') > folded.rindex("open>")
    assert "3 answers of 1,200 steps, 5 more answers behind it" in page
    assert "3 findings with a folder of their own; 2 more examples" in page


def test_markdown_says_the_same() -> None:
    text = markdown(RUN)
    assert text.startswith("# DIVERGENT")
    for said in ("the first cause", "quirk.some", "findings/two", "at step 3: A: the target died", "one-way"):
        assert said in text
    assert "\x1b" not in text
    assert "| `code` | `SUCCESS (0)` | `empty` |" in text
    assert "Nothing differs that has no explanation." in markdown(EMPTY)
    assert "Everything that a program can have was sent." in markdown(EMPTY)


def test_an_exchange_is_said_in_lines() -> None:
    said = dict(lines(exchange()))
    assert said["sent"] == 'GET_ROUTEINFO_BY_TOPIC (105)  header {"topic": "T0"}'
    assert said["differs"] == "code: A SUCCESS (0) · B empty"


def test_names_of_programs_stand_for_names_on_the_wire() -> None:
    command = Command(code=103, ext={"brokerName": "b0-zabcdefg"}, body=b'{"a":"b0-zabcdefg"}')
    said = message_of(command, 103, {"b0-zabcdefg": "b0"})
    assert said.title == "REGISTER_BROKER (103)"
    assert said.header == '{"brokerName": "b0"}'
    assert said.body == '{"a":"b0"}'


def test_long_bodies_are_cut_with_their_length() -> None:
    said = message_of(Command(code=0, flag=1, body=b'{"a":"' + b"x" * 5000 + b'"}'), 105, {})
    assert said.body.endswith("(5,008 characters)")
    assert len(said.body) < 1300
