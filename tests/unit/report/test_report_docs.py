"""The rendered catalogue: golden, without accident of markup, and known to be stale when it is."""

from __future__ import annotations

from pathlib import Path

from report_golden import check

from harness.catalogue import Catalogue, Profile, Report, Source, Statement, messages
from harness.report.docs import INDEX, REPORTS, render, stale, write
from harness.report.docs_chapters import ProvingCase

SOURCE = Source("rocketmq-all-5.3.3", "namesrv/src/main/java/a/RouteInfoManager.java", "registerBroker")
CATALOGUE = Catalogue(
    statements=(
        Statement(
            id="ns.data-version.is-stored",
            chapter="data-version",
            file="specs/statements/nameserver/data-version.yaml",
            level="MUST",
            profiles=("4.9", "5.3"),
            text="A NameServer MUST keep the data_version of <each> *broker*, such as `a|b`.",
            stimulus="REGISTER_BROKER (103) with a _version_.",
            observable="QUERY_DATA_VERSION (322) returns it | or nothing.",
            source=(SOURCE,),
            observed=("4.9.8", "5.3.3"),
            issues=("apache/rocketmq#5374",),
            heading="What is stored",
        ),
        Statement(
            id="ns.data-version.is-compared",
            chapter="data-version",
            file="specs/statements/nameserver/data-version.yaml",
            level="MAY",
            profiles=("5.3",),
            text="A NameServer MAY compare it.",
            stimulus="QUERY_DATA_VERSION (322).",
            observable="It says whether they differ.",
            source=(SOURCE,),
            heading="What is compared",
        ),
        Statement(
            id="ns.kv.hoarding",
            chapter="kv",
            file="specs/statements/nameserver/kv.yaml",
            level="MAY",
            profiles=("4.9",),
            until="4.9",
            text="Memory MAY be kept, as `a|b`.",
            stimulus="nothing",
            observable="nothing",
            source=(SOURCE,),
            untestable="memory is not seen on the wire",
        ),
        Statement(
            id="ns.kv.memory",
            chapter="kv",
            file="specs/statements/nameserver/kv.yaml",
            level="SHOULD",
            profiles=("5.3",),
            since="5.3",
            replaces=("ns.kv.hoarding",),
            text="Memory SHOULD be given back.",
            stimulus="nothing",
            observable="nothing",
            source=(SOURCE,),
            notes="A note.",
            untestable="memory is not seen on the wire",
        ),
    ),
    profiles=(
        Profile(name="4.9", title="RocketMQ 4.9", reference="4.9.8", text="The older line."),
        Profile(name="5.3", title="RocketMQ 5.3", reference="5.3.3", text="The newer line."),
    ),
    digest="0",
    about={"data-version": "Whether the topics of a Broker have changed.", "kv": "Pairs of key and value."},
    reports=(
        Report(title="A version is lost.", fixed=("5.1.0",), issues=("apache/rocketmq#5374", "ROCKETMQ-140")),
        Report(
            title="Memory is lost.", outcome="never fixed", name="memory", untestable="It is not on the wire."
        ),
    ),
)
CASES = {
    "ns.data-version.is-stored": [
        ProvingCase("data-version.is-stored", "It is stored.", ("forgets-version",)),
        ProvingCase("data-version.is-kept", "It is kept.", ("forgets-version", "orders-versions")),
    ]
}


def test_golden() -> None:
    pages = render(CATALOGUE, CASES, messages(), {})
    assert list(pages) == [INDEX, "data-version.md", "kv.md", REPORTS]
    for name, text in pages.items():
        check(f"docs/{name}", text)


def test_links_to_a_statement_lead_to_its_sentence() -> None:
    pages = render(CATALOGUE, CASES, messages(), {})
    assert "(data-version.md#nsdata-versionis-stored)" in pages[REPORTS]
    assert '<a id="nsdata-versionis-stored"></a>A NameServer **MUST** keep' in pages["data-version.md"]


def test_writing_makes_it_fresh_and_removes_what_is_gone(tmp_path: Path) -> None:
    pages = render(CATALOGUE, CASES, messages(), {})
    directory = tmp_path / "rendered"
    assert stale(pages, directory) == sorted(f"{name}: missing" for name in pages)
    assert write(pages, directory) == sorted(pages)
    assert stale(pages, directory) == []
    assert write(pages, directory) == []
    (directory / "gone.md").write_text("old", encoding="utf-8")
    (directory / "kv.md").write_text(pages["kv.md"].replace("A note.", "Another note."), encoding="utf-8")
    assert stale(pages, directory) == [
        "gone.md: no longer rendered",
        "kv.md: 2 lines differ",
        "  -- **Note:** Another note.",
        "  +- **Note:** A note.",
    ]
    assert write(pages, directory) == ["gone.md", "kv.md"]
    assert stale(pages, directory) == []
