"""What a server makes of the body of a registration, by its form, its announced version and the profile.

It goes by what a step says, not by bytes; a body that a server cannot read is None.

Sources: `DefaultRequestProcessor#registerBroker`, `RegisterBrokerBody#decode`, `TopicConfig#decode` of both
lines; statements ns.registration.* about bodies, versions and compression.
"""

from __future__ import annotations

import msgspec

from harness.catalogue import Profile
from harness.program.nameserver.frames import BORN
from harness.program.nameserver.steps import QueryVersion, Register
from harness.spec.nameserver.state import PRESENT, Queue, Version
from harness.wire.versions import V3_0_11, V5_0_0

_NO_VERSION: Version = (0, 0, 0)
"""Of a registration without a body."""
_MISSING_VERSION: Version = (0, PRESENT, 0)
"""Of a body that has no data version."""


class Announced(msgspec.Struct, frozen=True):
    """A registration that can be read. Topics and brokers are symbols. ``filters`` None keeps those that are
    stored.
    """

    topics: dict[str, Queue]
    version: Version
    filters: tuple[str, ...] | None
    mappings: dict[str, tuple[str, int]]


def version_of(step: Register | QueryVersion, line: Profile) -> Version:
    """The data version that a step carries, as the server keeps it."""
    return (step.counter, BORN + step.timestamp, (step.state or 0) if line.has("state-version") else 0)


def announced_by(step: Register, line: Profile) -> Announced | None:
    """What a registration says; None where it is refused for its body."""
    version = V5_0_0 if step.announces is None else step.announces
    if version < 0 or (step.crc == "wrong" and "bodyCrc32" not in step.drop):
        return None
    if step.form == "none":
        return Announced({}, _NO_VERSION, None if version < V3_0_11 else (), {})
    if version < V3_0_11:
        return _old(step, line)
    packed = step.form.startswith("compressed")
    claimed = packed if step.claims_compressed is None else step.claims_compressed
    if claimed and "compressed" not in step.drop:
        return _inflated(step, version, line) if packed else None
    if step.form == "bare":
        return Announced({}, _MISSING_VERSION, (), {})
    if step.form != "json":
        return None
    filters = () if step.no_filters else step.filters
    return Announced(step.topics, version_of(step, line), filters, _mappings(step, line))


def _mappings(step: Register, line: Profile) -> dict[str, tuple[str, int]]:
    return step.mappings if line.has("static-topics") else {}


def _old(step: Register, line: Profile) -> Announced | None:
    """Brokers older than V3_0_11 send the topic table alone."""
    if step.form == "json":  # none of its members is known
        return Announced({}, _MISSING_VERSION, None, {})
    if step.form != "bare":
        return None
    return Announced(step.topics, version_of(step, line), None, _mappings(step, line))


def _inflated(step: Register, version: int, line: Profile) -> Announced | None:
    sections = step.form == "compressed-5"
    if sections and step.topics and not line.has("topic-attributes"):
        return None  # the sixth word of a topic
    if line.has("static-topics") and not sections and version >= V5_0_0:
        return None  # no mapping section
    topics = {name: (read, write, perm, 0) for name, (read, write, perm, _) in step.topics.items()}
    mapped = line.has("static-topics") and sections and version >= V5_0_0
    filters = None if step.no_filters else step.filters
    return Announced(topics, version_of(step, line), filters, step.mappings if mapped else {})
