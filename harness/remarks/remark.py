"""A remark: which statement a client breaks, how, when, and the frames that show it."""

from __future__ import annotations

import msgspec

from harness.catalogue import Statement, catalogue


def is_about_clients(identifier: str) -> bool:
    """Whether there is a statement with this id by which clients are judged."""
    found = catalogue().statement(identifier)
    return found is not None and not found.roles


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A frame, or the end of a connection, for which `frame` is empty."""

    at: float
    """Seconds since the beginning, by the clock of the servers."""
    connection: int
    server: str
    """Its address, "ip:port"."""
    from_client: bool
    text: str
    """What it is, in a line."""
    frame: bytes

    def __str__(self) -> str:
        return f"{self.at:12.3f}  c{self.connection} {'→' if self.from_client else '←'} {self.text}"


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One remark."""

    client: str
    """Its id, as its heartbeats say it; else its address, "ip:port"."""
    statement: str
    """The id of what it breaks."""
    sentence: str
    """What it did."""
    evidence: tuple[Evidence, ...]
    at: float
    """Seconds since the beginning, by the clock of the servers: when it was clear."""
    times: int = 1
    """How often it happened; the rest is about the first time."""

    @property
    def rule(self) -> Statement:
        """The statement."""
        found = catalogue().statement(self.statement)
        assert found is not None, self.statement
        return found

    def __str__(self) -> str:
        more = "" if self.times == 1 else f" ({self.times} times)"
        lines = [
            f"{self.client}: {self.sentence}{more}",
            f"  {self.rule.level}: {self.rule.text} ({self.statement})",
            *(f"  {one}" for one in self.evidence),
        ]
        return "\n".join(lines)
