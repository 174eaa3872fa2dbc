"""What pages show beside commands is what programs take: settings, baselines, files of servers, cases."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from document_pages import PAGES, ROOT, fences, tokens

from harness import conformance
from harness.cli import main
from harness.cli.settings import KEYS, read_settings
from harness.conformance import baseline
from harness.conformance.loading import cases as loaded_cases
from harness.session import BrokerSession
from harness.targets import parse
from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.acl import accounts
from reference_impl.mutants.registry import mutants_of

GUIDES = ROOT / "docs" / "guides"
OUTPUT = {"", "text"}
"""Languages of fences that show what a program says."""
SHELL = {"sh"}
TAKEN_BY = {
    "docs/guides/broker-cases.md": "this file",
    "docs/guides/checking.md": "this file",
    "docs/guides/clients.md": "tests/unit/site/test_testing_guide.py",
    "docs/guides/fuzzing.md": "this file",
    "docs/guides/machine-formats.md": "tests/live/test_kaitai.py",
    "docs/guides/mining.md": "tests/live/test_documented_commands.py",
    "docs/guides/own-tests.md": "tests/unit/conformance/test_own_tests.py",
    "docs/guides/serving.md": "this file",
    "docs/guides/testing-any-language.md": "tests/live/test_guide_to_any_language.py",
    "docs/guides/testing-time.md": "tests/unit/site/test_testing_guide.py",
    "docs/guides/testing.md": "tests/unit/site/test_testing_guide.py",
    "docs/reference/settings.md": "this file",
    "docs/reference/testing-faults.md": "tests/unit/testing/test_fault_page.py",
    "docs/tutorial.md": "tests/unit/site/test_tutorial.py",
    "specs/rendered/broker-requests.md": "tests/unit/catalogue/test_examples.py",
    "specs/rendered/messages.md": "tests/unit/catalogue/test_examples.py",
}
"""Pages with fences in other languages, and what takes them."""


def test_a_test_takes_whatever_a_page_shows() -> None:
    shown = {
        str(page.relative_to(ROOT))
        for page in PAGES
        for token in tokens(page)
        if token.type == "fence" and token.info not in OUTPUT | SHELL
    }
    assert shown == set(TAKEN_BY)
    assert [one for one in TAKEN_BY.values() if one != "this file" and not (ROOT / one).exists()] == []


def test_commands_are_marked_as_such() -> None:
    unmarked = [
        f"{page.name}: {token.content.splitlines()[0]}"
        for page in PAGES
        for token in tokens(page)
        if token.type == "fence" and token.info in OUTPUT and token.content.startswith("rmq-harness ")
    ]
    assert unmarked == []


def test_the_settings(tmp_path: Path) -> None:
    (shown,) = fences(ROOT / "docs" / "reference" / "settings.md", "toml")
    (tmp_path / "rmq-harness.toml").write_text(shown)
    settings = read_settings(tmp_path)
    assert settings is not None
    assert set(settings.values) <= set(KEYS)


def test_the_baseline(tmp_path: Path) -> None:
    (shown,) = fences(GUIDES / "checking.md", "yaml")
    (tmp_path / "known.yaml").write_text(shown)
    (entry,) = baseline.read(tmp_path / "known.yaml", ["4.9", "5.3", "5.5"])
    assert entry.id in {one.name for one in loaded_cases(role="nameserver")}


def test_the_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(one for one in fences(GUIDES / "serving.md", "properties") if "Controller" in one)
    file = tmp_path / "namesrv.properties"
    file.write_text(shown)
    assert main(["serve", "nameserver", "--profile", "5.3", "-c", str(file), "-p"]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    assert set(shown.split()) <= set(written.out.split())


def test_the_accounts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(one for one in fences(GUIDES / "serving.md", "properties") if "aclEnable" in one)
    (tmp_path / "conf").mkdir()
    (listed,) = fences(GUIDES / "serving.md", "yaml")
    (tmp_path / "conf" / "plain_acl.yml").write_text(listed)
    file = tmp_path / "broker.conf"
    file.write_text(shown.replace("/srv/rocketmq", str(tmp_path)))
    status = main(["serve", "broker", "--profile", "4.9", "-c", str(file), "-p"])
    assert (status, capsys.readouterr().err) == (0, "")
    read = accounts.read("plain_acl.yml", listed.encode(), now=0)
    found = {one.access_key: one for one in read.accounts}
    assert [key for key, one in found.items() if one.admin] == ["administrator"]
    assert found["web-shop"].topics == {"orders": {"PUB", "SUB"}}


@pytest.fixture
def bk() -> Generator[BrokerSession]:
    with BrokerSession(parse("builtin:5.3", "broker").start(), "5.3", seed=7) as session:
        yield session


@pytest.mark.parametrize("shown", fences(GUIDES / "broker-cases.md", "python"))
def test_a_case_about_a_broker(shown: str, bk: BrokerSession) -> None:
    cases: list[Callable[[BrokerSession], None]] = []

    def case(kills: list[str], **_: bool) -> Callable[..., None]:
        assert set(kills) <= set(mutants_of("broker"))
        return cases.append

    codes = {one.name: one for kind in (RequestCode, ResponseCode) for one in kind}
    names = {**vars(conformance), **codes, "BrokerSession": BrokerSession, "case": case}
    exec(shown, names)
    for one in cases:
        one(bk)
    assert len(cases) == 1


def test_the_machine() -> None:
    (shown,) = fences(GUIDES / "fuzzing.md", "python")
    names: dict[str, object] = {}
    exec(shown.replace("tcp://127.0.0.1:9876", "builtin:5.3"), names)
    assert isinstance(names["TestNameServer"], type)
