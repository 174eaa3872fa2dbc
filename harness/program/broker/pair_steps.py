"""Steps about a master and its slave: what passes between them, and that it ends.

The executor stands between the two: it is a slave of the master and a master of the slave, and carries the
log, and what a master knows beside it, over only when a step says so. So a program decides how far the slave
is.
"""

from __future__ import annotations

from typing import ClassVar

from harness.program.broker.steps import BesideRequests


class AboutSlave(
    BesideRequests, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="about-slave"
):
    """What all steps about the slave are."""

    server: int = 1
    """The slave; its master is server 0."""


class Replicate(AboutSlave, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="replicate"):
    """The slave gets what the master has pushed, and the master what the slave has reported."""

    letters: ClassVar = "V"

    most: int | None = None
    """Bytes of the log at most; negative: all but that number; None: all."""
    reports: bool = True
    """Whether the slave's progress is reported to the master."""


class TakeOver(AboutSlave, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="take-over"):
    """The slave asks for what its master knows beside messages, and gets it: offsets of groups, how far
    delayed messages are, and groups.
    """

    letters: ClassVar = "E"


class Part(AboutSlave, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="part"):
    """Master and slave lose each other."""

    letters: ClassVar = "W"
