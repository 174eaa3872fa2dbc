"""What servers are played on: what differs between a NameServer and a Broker, and nothing else.

Whatever is about frames, connections, time, findings and counting is the same for every
role and asks its `Role` for the rest. A state (what should exist) is the role's own, and is opaque to all
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from harness.catalogue import Quirk
from harness.catalogue import Role as RoleName
from harness.findings.deviations import Deviations
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import Session, Setup
from harness.spec import Observation, Violation

if TYPE_CHECKING:
    from harness.engine.coverage import Coverage
    from harness.engine.executor import Executor, Unsolicited


class Judging(Protocol):
    """Judges one run."""

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        """By step: the statements that answers were held against and have not broken."""
        ...

    def begins(self, step: AnyStep, moment: float) -> None:
        """A step is about to be carried out. One that waits for its answer may take effect long before."""
        ...

    def observe(self, seen: Sequence[Observation], unsolicited: Sequence[Unsolicited]) -> list[Violation]:
        """What is wrong about observations, and about frames that came uncalled: ``unsolicited`` is the whole
        list of the run, of which the new ones are judged.
        """
        ...


class KnownQuirks(Protocol):
    """The named quirks that a target may show."""

    def __bool__(self) -> bool: ...

    def about(self, step: AnyStep, state: Any) -> Sequence[Quirk]:
        """Those that a step is about, where it is carried out now."""
        ...


class Role(Protocol):
    """What a server is."""

    @property
    def name(self) -> RoleName: ...

    @property
    def rules(self) -> str:
        """The name of the rules by which its programs are made (`harness.engine.rules`)."""
        ...

    @property
    def setup(self) -> Setup:
        """The settings with which its servers are started, where they are ours."""
        ...

    @property
    def others(self) -> Setup:
        """Those of all but the first server, where several are played on together."""
        ...

    @property
    def needs_setup(self) -> bool:
        """Whether a server without these settings is of no use."""
        ...

    def session(self, instance: Any, profile: str, **said: Any) -> Session:
        """How it is spoken to: a session with the arguments of a ``NameServerSession``."""
        ...

    @property
    def servers(self) -> int:
        """The greatest number that are played on together."""
        ...

    @property
    def least_servers(self) -> int:
        """The smallest number."""
        ...

    def state(self, profile: str, servers: int) -> Any:
        """What exists at first; ``apply(step)`` of it carries a step out, and ``facts()`` tells what exists,
        by symbols: mining takes states with equal facts for one.
        """
        ...

    @property
    def tolerates(self) -> bool:
        """Whether its judge goes on behind a violation, so that programs may."""
        ...

    def judge(
        self, profile: str, names: Names, jitter: Sequence[float], *, fresh: bool, deviations: Deviations
    ) -> Judging:
        """A judge of a run."""
        ...

    def look(self, state: Any, *, moment: int) -> list[AnyStep]:
        """Everything that can be seen of what a program did. ``moment``: protocol seconds that may pass
        before, 0 where the server shows at once what it has done.
        """
        ...

    def tidy(self, executor: Executor, state: Any) -> bool:
        """Takes back what was done; False where that was not possible."""
        ...

    def spoils(self, state: Any) -> bool:
        """Whether a server on which this was done is unusable until it is undone."""
        ...

    def tally(self) -> Coverage:
        """Nothing reached yet."""
        ...

    def quirks(self, found: Sequence[Quirk]) -> KnownQuirks:
        """Those of these quirks that programs bring about."""
        ...
