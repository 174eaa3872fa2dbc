"""A reference with a codec of its own, so that a fault in the server's codec is none in the harness's.

The reference and the harness share `harness.wire`. Here the reference is loaded against a copy of it.
"""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import NamedTuple

import harness
import harness.wire

_CODEC = "harness.wire"
_SERVERS = ("remoting", "nameserver", "broker")


class ServerCopy(NamedTuple):
    """Where the modules of the servers were loaded from."""

    root: Path
    """Of this checkout or installation."""
    copied: Path
    """The directory of the server's codec. It is the caller's to remove."""

    def path(self, file: str) -> str:
        """Where the server's module was loaded from. `file`: from the root, with slashes."""
        if file.startswith("harness/wire/"):
            return str(self.copied / file.removeprefix("harness/"))
        return str(self.root / file)

    def files(self) -> dict[str, str]:
        """Path -> file, of every module of the servers and their codec."""
        found = [path for name in _SERVERS for path in (self.root / "reference_impl" / name).rglob("*.py")]
        found += (self.root / "harness" / "wire").rglob("*.py")
        names = (path.relative_to(self.root).as_posix() for path in sorted(found))
        return {self.path(name): name for name in names}

    def source(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8")


def load_server_copy() -> ServerCopy:
    """Loads the reference against a copy of the codec. To be called once, before the reference is imported.

    Raises RuntimeError in a process that has imported the reference already.
    """
    if "reference_impl" in sys.modules:
        raise RuntimeError("the reference is loaded already, against the codec that the harness uses")
    root = Path(harness.__file__).parents[1]
    copied = Path(mkdtemp(prefix="rmq-harness-server-"))
    shutil.copytree(root / "harness" / "wire", copied / "wire", ignore=shutil.ignore_patterns("__pycache__"))
    kept = _taken_out()
    harness.__path__.insert(0, str(copied))
    try:
        _load_servers()
    finally:
        harness.__path__.remove(str(copied))
        _taken_out()
        sys.modules.update(kept)
        harness.wire = kept[_CODEC]
    return ServerCopy(root, copied)


def _load_servers() -> None:
    for name in ("mutants", *_SERVERS):
        package = importlib.import_module(f"reference_impl.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)


def _taken_out() -> dict[str, ModuleType]:
    """The modules of the codec; the next import of one loads it anew."""
    names = [name for name in sys.modules if name == _CODEC or name.startswith(f"{_CODEC}.")]
    return {name: sys.modules.pop(name) for name in names}
