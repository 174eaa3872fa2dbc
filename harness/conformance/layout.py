"""Where cases live, and what their place says about them.

A chapter is a file, `<folder>/test_<chapter>.py`, or a folder of files, `<folder>/<chapter>/test_<theme>.py`.
The folder says whose statements the chapter proves. Chapters about Brokers are called `broker-<chapter>`,
because a NameServer has chapters of the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

PACKAGE = __name__.rpartition(".")[0]
FOLDERS = {"nameserver": "ns", "broker": "bk", "shared": "wire"}
"""The folders of cases, and the prefixes of their statements' ids."""


class CasePlace(NamedTuple):
    """What a module of cases is about."""

    chapter: str
    statements: str
    """The prefix of the chapter's statement ids, such as `ns.lease`."""


def place_of(module: str) -> CasePlace | None:
    """The place of a module, by its full name; None outside the folders of cases."""
    package, _, inside = module.partition(f"{PACKAGE}.")
    match [package, *inside.split(".")]:
        case ["", folder, name] if folder in FOLDERS and name.startswith("test_"):
            chapter = slug(name)
        case ["", folder, name, theme] if folder in FOLDERS and theme.startswith("test_"):
            chapter = slug(name)
        case _:
            return None
    prefix = "broker-" if folder == "broker" else ""
    return CasePlace(f"{prefix}{chapter}", f"{FOLDERS[folder]}.{chapter}")


def slug(name: str) -> str:
    """The name of a module or a function as ids have it: `test_kv_pairs` is `kv-pairs`."""
    return name.removeprefix("test_").replace("_", "-")


def file_of(chapter: str, statement: str) -> str:
    """Where a case that proves the statement goes: the file of the chapter, or the package of a large one."""
    prefix = statement.partition(".")[0]
    folder = next(folder for folder, begins in FOLDERS.items() if begins == prefix)
    name = chapter.removeprefix("broker-").replace("-", "_")
    is_package = (Path(__file__).parent / folder / name).is_dir()
    return f"harness/conformance/{folder}/{f'{name}/' if is_package else f'test_{name}.py'}"


def modules_of(statement: str) -> Iterator[str]:
    """The modules of the chapter of a statement, where its case is."""
    begins, chapter, _ = statement.split(".")
    folder = next(folder for folder, prefix in FOLDERS.items() if prefix == begins)
    name = chapter.replace("-", "_")
    here = Path(__file__).parent / folder
    themes = sorted((here / name).glob("test_*.py"))
    yield from (f"{PACKAGE}.{folder}.{name}.{one.stem}" for one in themes)
    if not themes:
        yield f"{PACKAGE}.{folder}.test_{name}"


def key_of_node(node: str) -> str:
    """`nameserver/test_kv.py::test_x` of a pytest node id, whatever its rootdir and its group of xdist."""
    path, _, function = node.partition("@")[0].partition("::")
    parts = PurePath(path).parts
    start = max((number for number, part in enumerate(parts) if part in FOLDERS), default=len(parts) - 1)
    return f"{'/'.join(parts[start:])}::{function}"
