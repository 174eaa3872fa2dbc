"""The summary in Markdown: what comes first, and that no text of a target is read as markup."""

from __future__ import annotations

import re

import msgspec
import pytest
import report_samples as samples
from report_golden import check

from harness.report import markdown
from harness.report.results import QuirkSummary, Run, Verdict
from harness.report.verdicts import ending


def known() -> Run:
    """A run with a quirk, one that was not seen, and a stale entry of its baseline."""
    whole = samples.green()
    seen, unseen = whole.header.cases[5].name, whole.header.cases[6].name
    quirks = tuple(
        QuirkSummary(id=f"quirk.{name}", statements=("ns.x.y",), cases=(case,), instead="It lists both.")
        for name, case in (("listed-twice", seen), ("other", unseen))
    )
    header = msgspec.structs.replace(
        whole.header,
        server="apache-nameserver@5.3.3",
        quirks=quirks,
        baseline="known.yaml",
        stale=("known.yaml:3: ns.x.y expired on 2020-01-01",),
    )
    results = tuple(
        msgspec.structs.replace(
            one,
            verdict=Verdict.QUIRK,
            quirk="quirk.listed-twice",
            reason="It lists both.",
            failure=samples.PROMOTION,
        )
        if one.case == seen
        else one
        for one in whole.results
    )
    measured = Run(header=header, results=results)
    return msgspec.structs.replace(measured, end=ending(measured, seconds=1.0))


@pytest.mark.parametrize("name", ["run", "green", "interrupted", "unreachable"])
def test_golden(name: str) -> None:
    check(f"summary-{name}.md", markdown.render(getattr(samples, name)()))


def test_what_is_known() -> None:
    text = markdown.render(known())
    check("summary-known.md", text)
    assert "1 quirk · 0 blocked" in text
    assert "- stale baseline entry: `known.yaml:3: ns.x.y expired on 2020-01-01`" in text
    assert "- quirk not seen: `quirk.other was not seen in" in text


def outside_of_code(text: str) -> str:
    """What a reader of Markdown reads as Markdown or HTML."""
    text = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize(
    "hostile",
    [
        "</pre><script>alert(1)</script>",
        "`` ` @user [x](javascript:x) `",
        "# x\n\n- y",
        "|a|b|",
        samples.HOSTILE,
    ],
)
def test_no_text_of_a_target_is_markup(hostile: str) -> None:
    whole = samples.run()
    failed = msgspec.structs.replace(samples.PROMOTION, actual=hostile, where=hostile)
    results = tuple(
        msgspec.structs.replace(one, failure=failed if one.failure else None, reason=hostile)
        for one in whole.results
    )
    header = msgspec.structs.replace(whole.header, target=hostile, description=hostile, stale=(hostile,))
    rest = outside_of_code(markdown.render(Run(header=header, results=results, end=whole.end)))
    for word in ("script", "@user", "javascript", "|a|b|", "# x", "- y", "\x1b", "\x00"):
        assert word not in rest


def test_many_failures_stay_short() -> None:
    whole = samples.run()
    failed = next(r for r in whole.results if r.failure is not None)
    long = msgspec.structs.replace(samples.PROMOTION, actual="x" * 100_000)
    planned = tuple(msgspec.structs.replace(whole.header.cases[0], name=f"case{n}") for n in range(400))
    results = tuple(
        msgspec.structs.replace(failed, case=f"case{n}", chapter="framing", failure=long) for n in range(400)
    )
    header = samples.header(cases=planned, cases_available=400)
    text = markdown.render(Run(header=header, results=results))
    assert "25 of 400 shown" in text
    assert len(text) < 100_000
