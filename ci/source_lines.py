"""Writes down at which line of Apache's source a method stands that the catalogue names: `specs/lines.yaml`.

`python ci/source_lines.py REPOSITORY`, which is a clone of Apache's with the tags of `specs/sources.yaml`. A
method that is not found, or whose tag the clone lacks, has no line: its links lead to the file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from harness.catalogue import Source, catalogue, specs_directory

HEAD = "# Where methods begin in Apache's source, by tag and class. Written by ci/source_lines.py.\n"
_NOT_DECLARED = re.compile(r"^\s*(?:return|new|else|throw|if|while|case|\*|//)\b")


def sources() -> Iterator[Source]:
    for one in (*catalogue().statements, *catalogue().quirks):
        yield from one.source


def text(repository: Path, source: Source) -> list[str]:
    """The lines of its file; none where the clone does not have it."""
    command = ["git", "-C", str(repository), "show", f"{source.tag}:{source.path}"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return shown.stdout.splitlines() if shown.returncode == 0 else []


def line_of(method: str, lines: list[str]) -> int | None:
    """The line of its declaration, the first of several; else that of the field with this name."""
    name = re.escape(re.split("[.#]", method)[-1])
    patterns = (
        rf"^\s+(?:[\w@<>\[\],.?]+\s+)+{name}\s*\((?!.*;\s*$)",
        rf"^\s+(?:public|private|protected)?\s*{name}\s*\([^;]*$",  # a constructor
        rf"^\s+(?:public|private|protected|static|final)\b[^(]*\b{name}\b\s*[=;]",
    )
    for pattern in map(re.compile, patterns):
        for number, line in enumerate(lines, 1):
            if pattern.search(line) and not _NOT_DECLARED.match(line):
                return number
    return None


def main(repository: Path) -> int:
    found: dict[str, dict[str, dict[str, int]]] = {}
    missing = set()
    for source in sorted(set(sources()), key=str):
        lines = text(repository, source)
        for method in source.methods:
            line = line_of(method, lines)
            if line is None:
                missing.add(f"{source.tag} {source.name}#{method}")
            else:
                found.setdefault(source.tag, {}).setdefault(source.name, {})[method] = line
    path = specs_directory() / "lines.yaml"
    path.write_text(HEAD + yaml.safe_dump(found), encoding="utf-8")
    sys.stdout.writelines(f"not found: {one}\n" for one in sorted(missing))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
