"""Every setting of Apache's Broker with its kind and its default, by line.

Source: what GET_BROKER_CONFIG (26) of 4.9.8 and 5.3.3 lists; kinds are those of the setters of BrokerConfig,
NettyServerConfig, NettyClientConfig and MessageStoreConfig of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
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
    """The settings of a line, "4.9" or "5.3", by key, in order."""
    found: dict[str, BrokerSetting] = {}
    for row in _FILE.read_text(encoding="utf-8").splitlines()[1:]:
        key, kind, of_49, of_53 = row.split("\t")
        default = of_49 if line == "4.9" else of_53
        if default != _ABSENT:
            found[key] = BrokerSetting(kind, None if default == _NULL else default)
    return found
