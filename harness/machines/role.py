"""What servers are played on: what differs between a NameServer and a Broker, and nothing else.

Rules of this module: whatever is about frames, connections, time, findings and counting is the same for every
role and asks its `Role` for the rest. A picture (what should exist) is the role's own, and is opaque to all
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from harness.catalogue import Role as RoleName
from harness.model import Observed, Violation
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import ProfileName, Session

if TYPE_CHECKING:
    from harness.machines.goals import Tally
    from harness.machines.player import Player, Uncalled

__all__ = ["Judging", "KnownQuirk", "KnownQuirks", "Role"]


class Judging(Protocol):
    """Judges one performance."""

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        """By step: the statements that answers were held against and have not broken."""
        ...

    def observe(self, seen: Sequence[Observed], uncalled: Sequence[Uncalled]) -> list[Violation]:
        """What is wrong about observations, and about frames that came uncalled: ``uncalled`` is the whole
        list of the performance, of which the new ones are judged.
        """
        ...


class KnownQuirk(Protocol):
    """A named quirk."""

    @property
    def id(self) -> str: ...

    @property
    def statements(self) -> tuple[str, ...]: ...

    @property
    def passing(self) -> bool:
        """Whether it comes to pass on some runs only."""
        ...

    @property
    def taints(self) -> str: ...


class KnownQuirks(Protocol):
    """The named quirks that a target may show."""

    def __bool__(self) -> bool: ...

    def about(self, step: AnyStep, picture: Any) -> Sequence[KnownQuirk]:
        """Those that a step is about, where it is carried out now."""
        ...


class Role(Protocol):
    """What a server is."""

    @property
    def name(self) -> RoleName: ...

    def session(self, instance: Any, profile: ProfileName, **said: Any) -> Session:
        """How it is spoken to: a session with the arguments of a ``NameServerSession``."""
        ...

    @property
    def servers(self) -> int:
        """So many are played on together at most."""
        ...

    def picture(self, *, five: bool, servers: int) -> Any:
        """What exists at first; ``apply(step)`` of it carries a step out."""
        ...

    def judge(self, profile: ProfileName, names: Names, jitter: Sequence[float], *, fresh: bool) -> Judging:
        """A judge of a performance."""
        ...

    def look(self, picture: Any, *, moment: int) -> list[AnyStep]:
        """Everything that can be seen of what a program did. ``moment``: protocol seconds that may pass
        before, 0 where the server shows at once what it has done.
        """
        ...

    def tidy(self, player: Player, picture: Any) -> bool:
        """Takes back what was done; False where that was not possible."""
        ...

    def spoils(self, picture: Any) -> bool:
        """Whether a server on which this was done can be used by nobody unless it is taken back."""
        ...

    def tally(self) -> Tally:
        """Nothing reached yet."""
        ...

    def quirks(self, profile: ProfileName, scheme: str) -> KnownQuirks:
        """What a target of this scheme is known to do otherwise."""
        ...
