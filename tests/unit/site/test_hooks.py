"""What the site makes of our Markdown, beside what its generator does."""

from __future__ import annotations

import importlib.util
from types import ModuleType, SimpleNamespace

import pytest
from document_pages import ROOT
from markdown import Markdown


def loaded(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "ci" / "site" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    return loaded("hooks")


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


def shown(columns: int, cell: str = "") -> str:
    """What the site makes of a table of one row."""
    head = "".join(f"<th>h{number}</th>" for number in range(columns))
    row = "".join(f"<td>{cell or number}</td>" for number in range(columns))
    table = f"<table><thead><tr>{head}</tr></thead><tbody><tr>{row}</tr></tbody></table>"
    result: str = loaded("tables").on_page_content(table, None, None, None)
    return result


def test_a_row_of_a_table_is_a_card_whose_lines_say_what_they_are() -> None:
    assert '<table data-shown="cards">' in shown(3)
    assert '<td data-label="h2">2</td>' in shown(3)
    assert "data-" not in shown(2)


def test_very_many_columns_are_scrolled() -> None:
    assert '<table data-shown="wide">' in shown(9)
    assert "data-label" not in shown(9)


def test_a_stroke_in_the_code_of_a_table_has_no_backslash() -> None:
    assert "<code>a|b</code>" in shown(2, r"<code>a\|b</code>")


@pytest.mark.parametrize("section", ["a.md#gone", "gone.md"])
def test_words_for_a_section_that_is_gone_are_an_error(section: str) -> None:
    pytest.importorskip("mkdocs", reason="needs the group site: make .venv/.spark")
    search = loaded("search")
    page = SimpleNamespace(url="a.html", file=SimpleNamespace(src_uri="a.md"))
    search.on_page_content("<p>x</p>", page, None, None)
    index = {"docs": [{"location": "a.html"}, {"location": "a.html#b"}]}
    assert search.completed(index, {"last": {"a.md": 0.5}, "words": {"a.md#b": "word"}})["docs"] == [
        {"location": "a.html", "boost": 0.5},
        {"location": "a.html#b", "boost": 0.5, "words": "word"},
    ]
    with pytest.raises(Exception, match="the site has no"):
        search.completed(index, {"last": {}, "words": {section: "word"}})


def test_comments_stand_above_commands_that_are_long() -> None:
    arranged = loaded("commands").on_page_markdown
    short, long = "```sh\na  # b\n```", f"```sh\n{'c' * 80}   # d\ne   # f\n```"
    assert arranged(short, None, None, None) == short
    assert arranged(long, None, None, None) == f"```sh\n# d\n{'c' * 80}\n# f\ne\n```"
    assert arranged(long.replace("sh", "text"), None, None, None) == long.replace("sh", "text")


def test_an_option_is_not_torn() -> None:
    block = '<div class="language-sh highlight"><pre>a<i> </i>--out b-c</pre></div>'
    whole = loaded("commands").on_page_content(block, None, None, None)
    assert '</i><span class="option">--out</span> b-c' in whole
