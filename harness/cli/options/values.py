"""Converters of what is typed. A mistake is an `ArgumentTypeError` that says what was expected."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from harness.catalogue import did_you_mean

_MOST = 10**9
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]+")


class Collected(argparse.Action):
    """Collects the values of an option that may be repeated. The first one takes the place of the default."""

    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, _: object = None) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*values] if before is self.default else [*before, *values])


def several(what: str) -> Callable[[str], tuple[str, ...]]:
    """A converter of `a,b,c`. An unset variable of a script must not select everything: it is a mistake."""

    def convert(text: str) -> tuple[str, ...]:
        found = _split(text)
        if not found:
            raise argparse.ArgumentTypeError(f"expected {what}, got nothing")
        return found

    return convert


def host_names(text: str) -> tuple[str, ...]:
    """Names of hosts, as the Host of a request has them before its port."""
    found = several("names of hosts")(text)
    for name in found:
        if not _HOST_NAME.fullmatch(name):
            raise argparse.ArgumentTypeError(
                f"expected names of hosts without scheme and port, such as rocketmq, got {name!r}"
            )
    return found


def listed(known: Iterable[str], what: str) -> Callable[[str], tuple[str, ...]]:
    """A converter of `a,b,c` that knows each word."""
    names = tuple(known)

    def convert(text: str) -> tuple[str, ...]:
        found = _split(text)
        for word in found:
            if word not in names:
                hint = did_you_mean(word, names)
                raise argparse.ArgumentTypeError(
                    f"unknown {what} {word!r}{hint and f', {hint}'}; expected some of {','.join(names)}"
                )
        if not found:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(names)}")
        return found

    return convert


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def seconds(text: str) -> float:
    """A positive number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds, such as 30, got {text!r}")
    return value


def duration(text: str) -> float:
    """Seconds, of `90`, `90s`, `10m` or `2h`."""
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    try:
        return unit * seconds(text[:-1]) if unit else seconds(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"expected a duration, such as 90, 90s, 10m or 2h, got {text!r}"
        ) from None


def amount(text: str, least: int = 0) -> int:
    """A number from 0 on."""
    value = _whole(text, least, _MOST)
    if value is None:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least} to {_MOST}, got {text!r}")
    return value


def count(text: str) -> int:
    """A number from 1 on."""
    return amount(text, 1)


def workers(text: str) -> int:
    """A number of processes; `auto` is one for each processor."""
    value = os.cpu_count() or 1 if text == "auto" else _whole(text, 1, 256)
    if value is None:
        raise argparse.ArgumentTypeError(f"expected a number of processes from 1 on, or auto, got {text!r}")
    return value


def port(text: str) -> int:
    """A port; 0 is any free one."""
    value = _whole(text, 0, 65535)
    if value is None:
        raise argparse.ArgumentTypeError(f"expected a port from 0 (any free one) to 65535, got {text!r}")
    return value


def _whole(text: str, least: int, most: int) -> int | None:
    if not text.isascii() or not text.isdigit():
        return None
    return int(text) if least <= int(text) <= most else None


def address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, or of `PORT` on this machine."""
    host, _, number = text.rpartition(":")
    value = _whole(number, 0, 65535)
    if value is None:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT or PORT, got {text!r}")
    return host.strip("[]") or "127.0.0.1", value
