"""Every page that a report can be, but that of mining: by what it shows."""

from __future__ import annotations

import cause_samples
import msgspec
import report_samples
import test_report_diff_page
import test_report_matrix

from harness.report import diff_page, fuzz_page, html, matrix_pages
from harness.report.fuzz_page import Cause, Fuzzed, Part, Shown

HOSTILE = "<script>alert(1)</script> `x` | \x1b[31m \u202e"
LONG = "a-name-without-any-place-to-break-it" * 20


def shown(**more: object) -> Shown:
    """A failure of a program of two steps."""
    plain = Shown(
        statement="ns.routes.every-id-is-listed",
        level="MUST",
        text="A route MUST list every id.",
        expected=f"broker b0: {LONG}",
        actual=f"broker b0: {HOSTILE}",
        confirmed="3 of 3",
        steps=("REGISTER_BROKER (103): broker b0", f"GET_ROUTEINFO_BY_TOPIC (105): topic {LONG}"),
        decisive=2,
        also_fails=("ns.routes.another",),
        folder="findings/ns.routes.every-id-is-listed-0",
    )
    return msgspec.structs.replace(plain, **more)


FUZZED = Fuzzed(
    conclusion="FINDINGS",
    exit_status=1,
    tone="fail",
    why="",
    target=f"exec:./ns {HOSTILE}",
    profile="5.3",
    seed="4",
    programs=20,
    steps=1,
    seconds=1.5,
    suite="0",
    causes=(
        Cause(name="103 REGISTER_BROKER of a slave: broker missing", examples=(shown(times=2), shown())),
        Cause(name=f"another {HOSTILE}", examples=(shown(folder="", text=""),)),
    ),
    deviating=(Cause(name="a remark", examples=(shown(level="SHOULD", cut_short=("too late",)),)),),
    known=(Cause(name="known", examples=(shown(known="issue 1"),)),),
    flaky=(shown(confirmed="1 of 3"),),
    unconfirmed=(shown(confirmed="0 of 0"),),
    left_out=("103 REGISTER_BROKER of a slave",),
    remarks=("known.yaml:3: not met",),
    parts=(
        Part(name="stateful", programs=20, steps=1, reached=1, goals=2, missed=("restart",), late=1),
        Part(name="frames", programs=1, steps=0, reached=0, goals=0, deaths=1, quirks=(("quirk.x", 1),)),
    ),
)
NOTHING_FOUND = msgspec.structs.replace(
    FUZZED,
    conclusion="NOTHING FOUND",
    exit_status=0,
    tone="pass",
    causes=(),
    deviating=(),
    known=(),
    flaky=(),
    unconfirmed=(),
    left_out=(),
    remarks=(),
)
TRACES = {"traces/promotion.trace": report_samples.TRACE}

PAGES: dict[str, str] = {
    "run": html.render(report_samples.run(), TRACES),
    "conformant": html.render(report_samples.green()),
    "interrupted": html.render(report_samples.interrupted()),
    "unreachable": html.render(report_samples.unreachable()),
    "causes": html.render(cause_samples.several()),
    "fuzz": fuzz_page.html(FUZZED),
    "nothing-found": fuzz_page.html(NOTHING_FOUND),
    "diff": diff_page.html(test_report_diff_page.RUN),
    "nothing-unexplained": diff_page.html(test_report_diff_page.EMPTY),
    "matrix": matrix_pages.render_html(test_report_matrix.whole(), ("rmq-harness", "matrix")),
}
