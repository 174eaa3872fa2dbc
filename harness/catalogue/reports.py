"""Bug reports of the upstream project: what people ran into, and which statements speak of it.

* A statement names the reports that it speaks of in `issues`; nothing else ties them. From a name follows a
  tag: `apache/rocketmq#5374` is `issue-5374`, the older `ROCKETMQ-140` is `rocketmq-140`.
* A defect that was found in Apache's code and never reported has a `name` instead, which its statements carry
  among their own tags.
* A report that no statement speaks of says why: what only a client or a broker can show is none of a
  NameServer's.
"""

from __future__ import annotations

import msgspec

from harness.catalogue.statements import Statement


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A bug report. The JSON Schema says what each member means."""

    title: str
    fixed: tuple[str, ...] = ()
    outcome: str = ""
    issues: tuple[str, ...] = ()
    name: str | None = None
    untestable: str | None = None

    @property
    def ending(self) -> str:
        """What became of it: `fixed in 4.9.8 and 5.2.0; where it is switched on`."""
        releases = " and ".join(self.fixed)
        return "; ".join(part for part in (releases and f"fixed in {releases}", self.outcome) if part)

    @property
    def tags(self) -> tuple[str, ...]:
        """What chooses its statements after `tag:`; the first one is how it is called."""
        return tuple(tag_of(issue) for issue in self.issues) if self.name is None else (self.name,)


def tag_of(issue: str) -> str:
    """The tag that chooses the statements about an issue or pull request."""
    _, mark, number = issue.rpartition("#")
    return f"issue-{number}" if mark else issue.lower()


def tags_of(statement: Statement) -> tuple[str, ...]:
    """Everything that chooses the statement after `tag:`: its own tags, and those of its issues."""
    return (*statement.tags, *(tag_of(issue) for issue in statement.issues))
