"""What is special in a step, beside what a peer ordinarily sends: by it causes are told apart.

- A trait is a few words that go on after the name of the request: ``without topics``, ``binary``.
- Names, addresses, connections and numbers that only have to differ are no traits.
- A field has its trait where it is not as it is by default; where the default is not the ordinary thing
  (a registration without topics), the default has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.program.frames import code_of
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Request, Restart, Time
from harness.program.steps import TITLES, AnyStep
from harness.wire.code_names import request_name
from harness.wire.requests import REQUESTS

AS_OF_49 = "as a Broker of 4.9 sends it"
_SETTING = "with the setting "
_GREAT = 2**53
_NAMED = ("broker", "cluster", "topic")
_NAMES = ("server", "conn", "broker", "address", "cluster", "topic", "namespace", "key", "value", "code")
_NUMBERS = (
    *("counter", "timestamp", "seconds", "old", "idle", "queues", "topics"),
    *("start", "lasts", "log_epoch", "log_end", "priority", "ids", "master_epoch", "set_epoch", "brokers"),
)
_WORDS = {
    "oneway": "one-way",
    "binary": "binary",
    "cuts": "in pieces",
    "stall": "slowly",
    "held": "together with the next",
    "twice": "sent twice",
    "broken": "broken off",
    "awaited": "not awaited",
    "filter": "with a filter",
    "filters": "with filter servers",
    "said": "with properties",
    "no_filters": "without filterServerList",
    "mappings": "with static topics",
    "ha": "without haServerAddr",
    "lease": "with a lease of its own",
    "acting": "with enableActingMaster",
    "zone": "with a zone",
    "lines": "with lines",
    "designate": "demanded",
    "living": "by force",
    "allowed": "forbidden",
}


def traits_of(step: AnyStep) -> frozenset[str]:
    """What is special in a step."""
    return frozenset(_traits(step))


def settings_in(traits: frozenset[str]) -> frozenset[str]:
    """Those traits that name a setting: servers treat many settings alike."""
    return frozenset(trait for trait in traits if trait.startswith(_SETTING))


def kind_of(step: AnyStep) -> str:
    """What a step is, for comparison: its tag, and its code where it may have several; of a damaged frame not
    what it was before.
    """
    tag = str(type(step).__struct_config__.tag)
    several = isinstance(step, Request) and len(step.codes) > 1
    return f"{tag} {code_of(step)}" if several else tag  # type: ignore[arg-type]


def changes(step: AnyStep) -> bool:
    """Whether a step may change what a server holds. A request that no server knows does not."""
    if isinstance(step, Request):
        form = REQUESTS.get(code_of(step))
        return form is not None and not form.read_only
    return True


def words_of(step: AnyStep) -> str:
    """What a step is, for people: ``322 QUERY_DATA_VERSION``."""
    if isinstance(step, ns.Damaged):
        return f"damaged {words_of(step.base)}"
    if isinstance(step, Request) and step.codes:
        code = code_of(step)
        return f"{code} {request_name(code)}"
    return TITLES[type(step)]


def _traits(step: AnyStep) -> Iterator[str]:
    match step:
        case ns.Damaged():
            yield from sorted({str(type(one).__struct_config__.tag) for one in step.damages})
            return
        case Time():
            yield "for a lease" if step.seconds > 60 else "for a moment"
            return
        case Close() | Restart():
            yield f"by {step.how}"
            return
        case Request():
            yield from _of_a_request(step)


def _of_a_request(step: Request) -> Iterator[str]:
    for name in ("broker", "cluster", "topic", "namespace", "key", "value"):
        text = getattr(step, name, None)
        if isinstance(text, str):
            if not text.isascii():
                yield f"with a {'name' if name in _NAMED else name} beyond ASCII"
            elif not text:
                yield f"with an empty {name}"
    if getattr(step, "counter", 0) > _GREAT:
        yield "with a counter beyond 2^53"
    match step:
        case ns.Register():
            yield from _of_a_registration(step)
        case ns.RegisterTopic() if not step.queues:
            yield "without brokers"
        case ns.RegisterTopic() if len(step.queues) > 1:
            yield "with several brokers"
        case ns.Configure() if not step.lines:
            yield "without lines"
        case ns.Kv() if step.namespace.startswith("ORDER"):
            yield "about an ordered topic"
    yield from _of_fields(step)


def _of_a_registration(step: ns.Register) -> Iterator[str]:
    if len(step.topics) < 2:
        yield "with one topic" if step.topics else "without topics"
    if any(not topic.isascii() for topic in step.topics):
        yield "with a name beyond ASCII"
    if step.id:
        yield "of a slave" if step.id > 0 else "with a negative id"


def _of_fields(step: Request) -> Iterator[str]:
    for field in msgspec.structs.fields(step):
        name, value = field.name, getattr(step, field.name)
        if name in _NAMES or name in _NUMBERS or name == "id":
            continue
        if name == "lean":
            if value:
                yield AS_OF_49
        elif name == "state":
            if value:
                yield "with a stateVersion"
        elif name == "drop":
            yield from (f"without {one}" for one in value)
        elif name == "lines":
            names = {line.partition("=")[0].strip() for line in value}
            yield from sorted(f"{_SETTING}{name}" if name else "with an empty line" for name in names)
        elif value != _default(field):
            if name == "ha":
                yield "without haServerAddr"
            elif name == "filters" and value is None:
                yield "with a null filterServerList"
            else:
                shown = "" if isinstance(value, dict | tuple | msgspec.Struct) else f" {value}"
                yield _WORDS.get(name, f"{name}{shown}")


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default
