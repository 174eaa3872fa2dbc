"""What the processes of a group are doing, as Linux shows it under `/proc`.

Elsewhere nothing is known: a group then has no processes and listens nowhere.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from pathlib import Path

import msgspec

_LISTENING = "0A"  # state of a socket in /proc/net/tcp
_WORKING = ("R", "D")  # states of a process that runs, wants to run, or waits for a disk


class Group(msgspec.Struct, frozen=True):
    """A look at a group."""

    ticks: int
    """Processor time that it has used, in clock ticks of the system."""
    is_working: bool
    """Whether one of its processes runs, or would if a processor were free."""
    listens_at: tuple[str, ...]
    """``HOST:PORT`` of each TCP port that it listens at."""


def look(leader: int) -> Group:
    """What the process group that ``leader`` leads is doing now."""
    ticks, is_working, sockets = 0, False, set[str]()
    for process, fields in _members(leader):
        ticks += int(fields[11]) + int(fields[12])
        is_working = is_working or fields[0] in _WORKING
        sockets |= _sockets(process)
    return Group(ticks, is_working, tuple(sorted(_listening(sockets))) if sockets else ())


def _members(leader: int) -> Iterator[tuple[Path, list[str]]]:
    """Each process of the group, and the fields of its `stat` from the state on (proc(5))."""
    with contextlib.suppress(OSError):
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with contextlib.suppress(OSError):
                    fields = (process / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[2]) == leader:
                        yield process, fields


def _sockets(process: Path) -> set[str]:
    found = set[str]()
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(descriptor.readlink())
                if target.startswith("socket:["):
                    found.add(target[len("socket:[") : -1])
    return found


def _listening(sockets: set[str]) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and fields[9] in sockets:
                    yield _address(fields[1])


def _address(text: str) -> str:
    """``127.0.0.1:9876`` of `0100007F:2694`: words in the order of the machine, the port as it is read."""
    host, _, port = text.partition(":")
    data = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
    address = ipaddress.ip_address(data)
    return f"{f'[{address}]' if address.version == 6 else address}:{int(port, 16)}"
