"""Damages to answers that a test gives: checked before the first answer meets them."""

from __future__ import annotations

from typing import Final

from harness.program.damages import AnyDamage, Bomb, Deep, Many
from harness.program.damaging import damaged
from harness.wire import Command, Serialization, encode

_MOST: Final = 100_000
_SAMPLES: Final = tuple(
    encode(Command(code=0, ext={"key": "value"}, body=b"{}", serialization=serialization))
    for serialization in (Serialization.JSON, Serialization.ROCKETMQ)
)


def check_damages(damages: tuple[AnyDamage, ...]) -> None:
    """Raises ValueError for damages that are too large, or that no frame can have."""
    for damage in damages:
        match damage:
            case Bomb(kib=amount) | Deep(depth=amount) | Many(count=amount) if not 0 <= amount <= _MOST:
                raise ValueError(f"{damage}: expected a number from 0 to {_MOST}")
            case _:
                _try(damage)


def _try(damage: AnyDamage) -> None:
    for frame in _SAMPLES:
        try:
            damaged(frame, (damage,))
        except (ValueError, OverflowError) as error:
            raise ValueError(
                f"{damage}: no frame can have it ({error}); expected text in Latin-1 and numbers of 32 bits"
            ) from None
