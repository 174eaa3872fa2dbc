"""What the site makes of our Markdown, beside what its generator does."""

from __future__ import annotations

import importlib.util
from types import ModuleType, SimpleNamespace

import pytest
from document_pages import ROOT
from markdown import Markdown


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    found = importlib.util.spec_from_file_location("site_hooks", ROOT / "ci" / "site" / "hooks.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def configured(hooks: ModuleType) -> list[object]:
    """The extensions of the site, as the hooks leave them."""
    config = SimpleNamespace(markdown_extensions=["md_in_html", "tables"], mdx_configs={"toc": {}}, nav=[])
    hooks.on_config(config)
    return config.markdown_extensions


@pytest.mark.parametrize("around", ["{}", '<details markdown="1"><summary>s</summary>\n\n{}\n\n</details>'])
def test_a_list_inside_of_a_list_stays_inside(hooks: ModuleType, around: str) -> None:
    markdown = Markdown(extensions=configured(hooks))  # type: ignore[arg-type]
    html = markdown.convert(around.format("- Cases:\n  - a\n  - b\n- Mutants"))
    assert "".join(html.split()).count("<li>Cases:<ul><li>a</li><li>b</li></ul></li><li>Mutants</li>") == 1


def test_a_long_name_breaks_behind_its_words_and_code_stays_as_it_is(hooks: ModuleType) -> None:
    page = "<title>A_B</title><body><td>PUT_KV_CONFIG a_b</td><pre><b>A_B</b></pre><a title=A_B>x</a></body>"
    assert hooks.on_post_page(page, page=None, config=None) == page.replace(
        "PUT_KV_CONFIG", "PUT_<wbr>KV_<wbr>CONFIG"
    )


def test_readers_of_the_site_are_not_warned_of_editing(hooks: ModuleType) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="specs/rendered/lease.md"), meta=dict[str, object]())
    text = "3 statements. Rendered from `specs/x/`; do not edit. All chapters"
    assert hooks.on_page_markdown(text, page, None, None) == "3 statements. All chapters"
