"""Every setting of Apache's Broker with its kind and its default, by line.

Source: what GET_BROKER_CONFIG (26) of 4.9.8, 5.3.3 and 5.5.0 lists; kinds are those of the setters of
BrokerConfig, NettyServerConfig, NettyClientConfig and MessageStoreConfig of rocketmq-all-4.9.8,
rocketmq-all-5.3.3 and rocketmq-all-5.5.0.
Numbers of threads are those of a machine with two processors; what depends on the machine otherwise has no
default.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["BrokerSetting", "broker_settings"]

_FILE: Final = Path(__file__).with_name("broker_settings.tsv")
_ABSENT, _NULL = "-", r"\N"
"""What the file says of a setting that the line lacks, and of one without a default."""


class BrokerSetting(msgspec.Struct, frozen=True):
    """One setting of a line."""

    kind: str
    """`int` (32 bits), `long` (64 bits), `double`, `boolean`, `text`, `fixed` for one that nothing changes,
    or words between bars, one of which it is.
    """
    default: str | None
    """As it is shown; None: it is not, before it has a value, or the value is another on each machine."""


@lru_cache
def broker_settings(line: str) -> Mapping[str, BrokerSetting]:
    """The settings of a line, "4.9", "5.3" or "5.5", by key, in order."""
    head, *rows = (row.split("\t") for row in _FILE.read_text(encoding="utf-8").splitlines())
    column = head.index(f"default in {line}")
    found: dict[str, BrokerSetting] = {}
    for key, kind, *defaults in rows:
        default = defaults[column - 2]
        if default != _ABSENT:
            found[key] = BrokerSetting(kind, None if default == _NULL else default)
    return found
