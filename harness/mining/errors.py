"""What ends a campaign or the mining of one, said to people."""

from __future__ import annotations


class MiningError(Exception):
    """The text is complete: what was expected, what there was, what to do. ``status`` is the exit status."""

    def __init__(self, text: str, status: int = 4) -> None:
        super().__init__(text)
        self.status = status
