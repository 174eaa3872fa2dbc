"""What the answers of a controller have in common, and what its requests must have."""

from typing import TypeVar

from harness.wire import Command
from harness.wire.bodies import SyncStateSet
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError

from .replicas import BrokerSet

Told = dict[str, str | None]
_T = TypeVar("_T")


def named(command: Command) -> Told:
    """Cluster and name, as they were given."""
    told = {name: fields.text(command.ext, name) for name in ("clusterName", "brokerName")}
    return {name: value for name, value in told.items() if value is not None}


def told_master(found: BrokerSet) -> Told:
    """The master and the epochs."""
    told = {
        "masterBrokerId": None if found.master is None else str(found.master),
        "masterAddress": found.address_of(found.master),
        "masterEpoch": str(found.master_epoch),
        "syncStateSetEpoch": str(found.epoch),
    }
    return {name: value for name, value in told.items() if value is not None}


def in_sync(found: BrokerSet) -> SyncStateSet:
    """Who is in sync."""
    return SyncStateSet(list(found.in_sync), found.epoch)


def text_of(command: Command, field: str) -> str:
    """A text without which nothing can be done. Raises RefusedError."""
    return needed(fields.text(command.ext, field), field)


def number_of(command: Command, field: str) -> int:
    """A number without which nothing can be done. Raises RefusedError."""
    return needed(fields.int64(command.ext, field), field)


def needed(value: _T | None, field: str) -> _T:
    """A value without which nothing can be done. Raises RefusedError."""
    if value is None:
        raise RefusedError(f"{field} is missing or not of its type")
    return value
