"""What several judges read off a request of a client."""

from __future__ import annotations

from typing import Final, TypeAlias

from harness.remarks.stream import Said
from harness.wire import RequestCode
from harness.wire.bodies import Heartbeat
from harness.wire.header_fields import SHORT_NAMES

SENDS: Final = frozenset(
    {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE}
)
PULLS: Final = frozenset({RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE})
HELD: Final = PULLS | {RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION}
"""Requests that a Broker may hold until there is something to tell."""

_UNDECIDED: Final = "0"
"""What END_TRANSACTION says in `commitOrRollback` where the producer does not know."""

Place: TypeAlias = tuple[str, str, str]
"""Group, topic and queue number, as the fields say them."""


def sent(said: Said, field: str) -> str | None:
    """A field of a send by its long name."""
    is_short = said.command.code != RequestCode.SEND_MESSAGE
    return said[SHORT_NAMES[field] if is_short else field]


def is_answered(said: Said) -> bool:
    """Whether servers answer a request, and at once. An END_TRANSACTION that decides nothing has no answer,
    with or without the one-way bit (bk.transaction.unknown-is-not-answered).
    """
    code = said.command.code
    return code not in HELD and not (
        code == RequestCode.END_TRANSACTION and said["commitOrRollback"] == _UNDECIDED
    )


def place(said: Said) -> Place:
    """What a pull or an offset is of."""
    return said["consumerGroup"] or "", said["topic"] or "", said["queueId"] or ""


def groups_of(beat: Heartbeat) -> set[str]:
    """The groups of producers and of consumers that a heartbeat names."""
    consumers = {one.group_name or "" for one in beat.consumer_data_set}
    return consumers | {one.group_name or "" for one in beat.producer_data_set}


def number(text: str | None) -> int | None:
    """The number that a field says; None where it says none."""
    try:
        return int(text or "")
    except ValueError:
        return None


def is_true(text: str | None) -> bool:
    """As Java reads a boolean."""
    return (text or "").lower() == "true"
