"""All operations: what the routes and their description are made of."""

from __future__ import annotations

import binascii
import inspect
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final, Literal, TypeAlias, get_type_hints

import msgspec

from harness.testing import OptionError, Sent, View
from harness.testing.fault import Fault
from harness.testing.faults import Faults
from harness.testing.running import Running
from harness.testing.servers import ServerFaults
from harness.testing.time import Time

from . import shapes
from .controlled import Controlled
from .parameters import parameters_of, struct_of

Run: TypeAlias = Callable[[Controlled, dict[str, Any]], object]
Tag: TypeAlias = Literal[
    "cluster", "messages", "consumers", "demands", "requests", "time", "faults", "servers"
]

TAGS: Final[dict[Tag, str]] = {
    "cluster": "The cluster as a whole",
    "messages": "Topics, groups and messages",
    "consumers": "What groups have consumed",
    "demands": "Demands on the behaviour of an application",
    "requests": "What clients and servers have said",
    "time": "The clock of the servers",
    "faults": "Faults of requests, answers, routes and groups",
    "servers": "Servers that go away and come back",
}


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One operation: `GET` where it only looks, else `POST`."""

    name: str
    method: Literal["GET", "POST"]
    tag: Tag
    description: str
    parameters: type[msgspec.Struct]
    """What a query or a body is read into."""
    result: Any
    """The type of what `run` gives. None: nothing; bytes: a file."""
    run: Run

    @property
    def path(self) -> str:
        """Where it is. A path has no parts that vary."""
        return f"/{self.name}"


def _of(
    method: Callable[..., Any],
    verb: Literal["GET", "POST"],
    tag: Tag,
    note: str = "",
    *,
    run: Run | None = None,
    more: Mapping[str, tuple[Any, Any]] | None = None,
) -> Operation:
    """The operation of a method of `RocketMQ`."""
    name = method.__name__
    described = f"{inspect.getdoc(method)}\n\n{note}".strip()
    return Operation(
        name=name,
        method=verb,
        tag=tag,
        description=described,
        parameters=parameters_of(name, method, more or {}, frozenset()),
        result=shapes.shape_of(get_type_hints(method)["return"]),
        run=run or (lambda rocketmq, given: shapes.shaped(getattr(rocketmq, name)(**given))),
    )


def _read(name: str, tag: Tag, description: str, result: Any, run: Run, *fields: Any) -> Operation:
    """An operation that looks at what is no method."""
    return Operation(
        name=name,
        method="GET",
        tag=tag,
        description=description,
        parameters=struct_of(name or "about", list(fields)),
        result=result,
        run=run,
    )


def _do(name: str, tag: Tag, description: str, result: Any, run: Run, *fields: Any) -> Operation:
    """An operation that is no method."""
    return msgspec.structs.replace(
        _read(name, tag, description, result, run), method="POST", parameters=struct_of(name, list(fields))
    )


def _about(rocketmq: Controlled, _: dict[str, Any]) -> shapes.About:
    return shapes.About(
        version=version("rmq-harness"),
        profile=rocketmq.profile,
        namesrv=rocketmq.namesrv,
        servers=rocketmq.servers,
    )


def _send(rocketmq: Controlled, given: dict[str, Any]) -> Sent:
    body = given.pop("body")
    if given.pop("base64"):
        try:
            body = b64decode(body, validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise OptionError("body: with base64 expected a text in base64, as 'AAEC'") from None
    return rocketmq.send(body=body, **given)


def _set_speed(rocketmq: Controlled, given: dict[str, Any]) -> None:
    rocketmq.speed = given["speed"]


def _trace(rocketmq: Controlled, given: dict[str, Any]) -> bytes:
    traces = rocketmq.requests().traces
    name = given["server"]
    if name not in traces:
        heard = ", ".join(traces) or "none"
        raise OptionError(f"server={name!r}: expected a server that clients have spoken to ({heard})")
    trace = traces[name]
    return msgspec.json.Encoder().encode_lines((trace.header, *trace.events))


def _of_faults() -> Iterator[Operation]:
    """Beginning each of them, by the name of its method."""
    for name, method in vars(Faults).items():
        if not inspect.isfunction(method) or name.startswith("_") or name == "end_all":
            continue
        path = f"fault/{name}"
        required = frozenset({"topic"}) if name == "stale_route" else frozenset()
        yield Operation(
            name=path,
            method="POST",
            tag="faults",
            description=inspect.getdoc(method) or "",
            parameters=parameters_of(path, method, {}, required),
            result=shapes.Fault if get_type_hints(method)["return"] is Fault else int,
            run=_beginning(method),
        )


def _beginning(method: Callable[..., Any]) -> Run:
    def run(rocketmq: Controlled, given: dict[str, Any]) -> object:
        begun = method(rocketmq.fault, *given.pop("damages", ()), **given)
        return rocketmq.keep(begun) if isinstance(begun, Fault) else begun

    return run


OPERATIONS: Final = (
    _read("", "cluster", "What runs here; it answers as soon as the cluster serves.", shapes.About, _about),
    _of(Running.reset, "POST", "cluster", "Everything is as it was after the start in that case, too."),
    _of(View.topic, "POST", "messages"),
    _of(View.group, "POST", "messages"),
    _of(
        View.send,
        "POST",
        "messages",
        "In JSON, `body` is a text, or a value that is written as JSON; with `base64` it is bytes in base64.",
        run=_send,
        more={"base64": (bool, False)},
    ),
    _of(View.messages, "GET", "messages"),
    _of(View.pending, "GET", "messages"),
    _of(View.transactions, "GET", "messages"),
    _of(View.wait_for, "POST", "messages", "`where` says what a message has: all that it names must be so."),
    _of(View.consumed, "GET", "consumers"),
    _of(View.lag, "GET", "consumers"),
    _of(View.progress, "GET", "consumers"),
    _of(View.dead_letters, "GET", "consumers"),
    _of(View.clients, "GET", "consumers"),
    _of(View.deliver_again, "POST", "consumers"),
    _of(View.assert_consumed, "POST", "demands"),
    _of(
        View.assert_in_order,
        "POST",
        "demands",
        "`by` says what was recorded: ids, keys or texts of messages.",
    ),
    _of(View.assert_only_committed, "POST", "demands"),
    _of(View.assert_no_client_remarks, "POST", "demands"),
    _of(View.client_remarks, "GET", "requests"),
    _of(View.requests, "GET", "requests", "`trace` has their bytes."),
    _read(
        "trace",
        "requests",
        "Everything that clients and one server have said to each other, for `rmq-harness decode FILE` and "
        "`replay FILE TARGET`.",
        bytes,
        _trace,
        ("server", str),
    ),
    _of(Time.advance, "POST", "time"),
    _of(Time.freeze, "POST", "time"),
    _read("speed", "time", inspect.getdoc(Time.speed) or "", float, lambda rocketmq, _: rocketmq.speed),
    _do("speed", "time", "Set the speed of the clock.", None, _set_speed, ("speed", float)),
    _read("now", "time", inspect.getdoc(Time.now) or "", datetime, lambda rocketmq, _: rocketmq.now),
    *_of_faults(),
    _read(
        "fault",
        "faults",
        "The faults that have begun and were not ended.",
        list[shapes.Fault],
        lambda rocketmq, _: rocketmq.faults,
    ),
    _do(
        "fault/wait",
        "faults",
        inspect.getdoc(Fault.wait) or "",
        shapes.Fault,
        lambda rocketmq, given: rocketmq.wait_for_fault(given["id"], given["times"], given["timeout"]),
        ("id", int),
        ("times", int, 1),
        ("timeout", float, 10.0),
    ),
    _do(
        "fault/end",
        "faults",
        "End a fault. One that was met less than `times` times, or never, is a problem: the test has not "
        "tested what it is for.",
        shapes.Fault,
        lambda rocketmq, given: rocketmq.end_fault(given["id"], demand=True),
        ("id", int),
    ),
    _do(
        "fault/stop",
        "faults",
        inspect.getdoc(Fault.stop) or "",
        shapes.Fault,
        lambda rocketmq, given: rocketmq.end_fault(given["id"], demand=False),
        ("id", int),
    ),
    *(
        _of(method, "POST", "servers")
        for name, method in vars(ServerFaults).items()
        if inspect.isfunction(method) and not name.startswith("_") and name != "call"
    ),
)
"""All of them, in the order of the description."""
