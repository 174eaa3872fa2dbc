"""What was special in a request, in words: everything in which it is not as an ordinary peer sends it.

By these words a cause is recognised in other programs, and people read them. What is ordinary has none. Names
and numbers that say nothing by themselves are left out; how a registration relates to what is known by then
is said by the predicates of quirks.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import code_of
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.predicates import PREDICATES
from harness.wire.code_names import request_name
from harness.wire.requests import REQUESTS
from harness.wire.versions import V3_0_11, V4_9_4, V5_0_0

_LEAN = "without the members of 5.x"
_USUAL_PERMISSIONS = (4, 6)
_SAID_ALREADY = ("binary", "drops-field", "zone-filtered", "null-old-body", "no-data-version")
"""Predicates about the request alone: its fields say the same."""
_RELATIONS = {
    "lone-topic": "an id that is not listed with one topic",
    "outranked": "the id is held with a greater state version",
    "promoted-over-master": "a slave becomes master beside another",
    "replaces-address": "the id is held by another address",
    "several-clusters": "the name is in several clusters",
    "wrong-cluster": "another cluster than its own",
    "shared-connection": "several brokers on the connection",
    "address-of-another": "the address is another name's",
    "mapped-topic-goes": "a static topic goes",
    "mapping-of-equal-version": "static topics of the known version",
    "adds-to-other-bits": "permissions other than 4 and 6",
    "lease-ends": "a lease ends",
}
_FORMS = {
    "compressed": "body compressed as by 4.x",
    "compressed-5": "body compressed as by 5.x",
    "bare": "body as before 3.0.11",
    "none": "no body",
    "null": "body null",
    "garbage": "body that is no JSON",
}


class Kind(msgspec.Struct, frozen=True):
    """What is asked or done, and what was special in it."""

    what: str
    """``REGISTER_BROKER (103)``, ``connection closed``."""
    special: frozenset[str] = frozenset()

    @property
    def is_question(self) -> bool:
        """Whether it changes nothing but leases."""
        return self.what in _QUESTIONS or self.what.startswith(_UNKNOWN)

    def is_in(self, other: Kind) -> bool:
        """Whether the other is the same, with everything special that this has."""
        return self.what == other.what and self.special <= other.special

    def __str__(self) -> str:
        return self.what + (f", {', '.join(sorted(self.special))}" if self.special else "")


_UNKNOWN = "unknown request code"
_QUESTIONS = frozenset(
    f"{request_name(code)} ({int(code)})" for code, form in REQUESTS.items() if form.read_only
)


def kind_of(step: AnyStep, expected: ExpectedState) -> Kind:
    """The kind of a step that is about to be carried out."""
    relations = {
        _RELATIONS.get(name, name)
        for name, holds in PREDICATES.items()
        if name not in _SAID_ALREADY and holds(expected, step)
    }
    return Kind(what_of(step), frozenset(relations.union(_words(step, expected))))


def what_of(step: AnyStep) -> str:
    """What a step asks or does."""
    match step:
        case Time():
            return "time passes"
        case Close():
            return "connection closed"
    assert isinstance(step, ns.AnyRequest)
    code = code_of(step)
    return f"{request_name(code) or _UNKNOWN} ({code})"


def _words(step: AnyStep, expected: ExpectedState) -> Iterator[str]:
    if isinstance(step, Request):
        yield from _of_header(step)
    form = getattr(step, "form", "json")
    if form != "json":
        yield _FORMS[form]
    match step:
        case Time() if step.idle:
            yield "idle connections"
        case Close() if step.how != "fin":
            yield f"by {step.how}"
        case ns.Register():
            yield from _of_registration(step)
        case ns.Route():
            if step.standard is not None:
                yield f"acceptStandardJsonOnly {str(step.standard).lower()}"
            if step.zone_mode is not None or step.zone is not None:
                yield "zones"
        case ns.QueryVersion():
            if step.state:
                yield "stateVersion above 0"
            if step.lean:
                yield _LEAN
        case ns.Kv():
            if not step.key.isascii() or not step.value.isascii():
                yield "beyond ASCII"
            if step.topic is not None:
                yield "order configuration of a topic"
        case ns.DeleteTopic() if step.cluster is not None:
            yield "clusterName"
        case ns.Configure():
            if any(line.partition("=")[0] not in expected.settings for line in step.lines):
                yield "a setting that no server knows"


def _of_header(step: Request) -> Iterator[str]:
    yield from (f"without {field}" for field in step.drop)
    if step.binary:
        yield "binary header"
    if step.oneway:
        yield "one-way"
    if step.announces is not None:
        yield f"version {_release(step.announces)}"


def _release(announced: int) -> str:
    if announced < 0:
        return "below 0"
    if announced < V3_0_11:
        return "before 3.0.11"
    if announced < V4_9_4:
        return "before 4.9.4"
    return "of 4.9.4 or later 4.x" if announced < V5_0_0 else "of 5.x"


def _of_registration(step: ns.Register) -> Iterator[str]:
    if step.id:
        yield "a slave" if step.id > 0 else "broker id below 0"
    if not step.topics and step.form in ("json", "compressed", "compressed-5", "bare"):
        yield "no topics"
    for _, _, permission, flag in step.topics.values():
        if permission not in _USUAL_PERMISSIONS:
            yield "permission other than 4 and 6"
        if flag:
            yield "topic with a system flag"
    if step.counter < 1:
        yield "data version below 1"
    facts = {
        "stateVersion above 0": bool(step.state),
        _LEAN: step.lean and step.form == "json",
        "static topics": bool(step.mappings),
        "filter servers": bool(step.filters),
        "filterServerList null": step.filters is None and not step.no_filters,
        "without filterServerList": step.no_filters,
        "without haServerAddr": not step.ha,
        "without bodyCrc32": step.crc == "none",
        "wrong bodyCrc32": step.crc == "wrong",
        "wrong about compression": step.claims_compressed not in (None, step.form.startswith("compressed")),
        "a lease of its own": step.lease is not None,
        "enableActingMaster": step.acting is True,
        "enableActingMaster false": step.acting is False,
        "zone": step.zone is not None,
    }
    yield from (word for word, holds in facts.items() if holds)
