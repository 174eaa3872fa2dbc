"""Overlapping calls as a text diagram: one line each, a bar from its begin to its end.

What matters is which calls overlap, so every begin and end has a column of its own and
times are not to scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.spec.linear import Call
from harness.spec.nameserver.history.kv_spec import Delete, Get, Put
from harness.spec.nameserver.history.operations import (
    Changed,
    DropTopic,
    GiveTopic,
    Leave,
    Listed,
    Members,
    Notice,
    Permissions,
    Refresh,
    Registration,
    Routed,
    Serves,
    Stored,
    Writable,
)


def timeline(calls: Sequence[Call], width: int = 40) -> str:
    """The diagram. ``┠──┨`` was answered, ``┠──…`` was not, or takes effect behind its answer."""
    moments = sorted(
        {moment for call in calls for moment in (call.begin, call.end) if moment[0] < float("inf")}
    )
    step = max(2, min(6, width // max(1, len(moments))))
    column = {moment: step * at for at, moment in enumerate(moments)}
    last = step * len(moments) + 1
    lines = []
    for call in calls:
        begin, end = column.get(call.begin, 0), column.get(call.end, last)
        known = call.end in column
        bar = " " * begin + "┠" + "─" * max(0, end - begin - 1) + ("┨" if known else "…")
        lines.append(f"#{call.number:<4}{bar:<{last + 2}} {call_text(call)}")
    return "\n".join(lines)


def call_text(call: Call) -> str:
    """``register a0 as 0, …``: what was asked and seen, in one line."""
    text = _TEXTS[type(call.action)](call.action)
    return text if call.required else f"{text} (perhaps)"


def _registration(asked: Registration) -> str:
    counter, _, state = asked.version
    topics = " ".join(f"{topic}={'/'.join(map(str, queues[:3]))}" for topic, queues in asked.topics)
    answer = {True: "success", False: "refused", None: "no answer"}[asked.accepted]
    if asked.told is not None and asked.told[0] is not None:
        answer += f", master {asked.told[0]}" + ("" if asked.told[1] else " without an HA address")
    version = f"version {counter}" + (f" state {state}" if state else "")
    return f"register {asked.address} as {asked.id}, {version}, {topics or 'no topics'} → {answer}"


def _routed(seen: Routed) -> str:
    if seen.queues is None:
        return f"route {seen.topic} → not there"
    read, write, _ = seen.queues
    return f"route {seen.topic} → {read}/{write} at {_addresses(seen.addresses)}"


def _changed(asked: Changed) -> str:
    answer = {True: "yes", False: "no", None: "no answer"}[asked.changed]
    return f"changed from version {asked.version[0]} at {asked.address}? → {answer}"


def _addresses(addresses: tuple[tuple[int, str], ...]) -> str:
    return "{" + ", ".join(f"{number}: {address}" for number, address in addresses) + "}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    Registration: _registration,
    Leave: lambda one: f"unregister {one.address} (id {one.id})",
    Notice: lambda one: f"the end of connection {one.conn} is noticed",
    Permissions: lambda one: f"{'add' if one.add else 'wipe'} write permission → {one.count} topics",
    DropTopic: lambda one: f"delete topic {one.topic}",
    GiveTopic: lambda one: f"give topic {one.topic}={'/'.join(map(str, one.queues[:3]))}",
    Refresh: lambda one: f"heartbeat of {one.address}",
    Changed: _changed,
    Stored: lambda one: f"version of {one.address} → {one.version and one.version[0]}",
    Routed: _routed,
    Writable: lambda one: f"route {one.topic} → permission {one.perm}",
    Listed: lambda one: f"cluster information, id {one.id} → {one.address or 'none'}",
    Members: lambda one: f"members → {_addresses(one.addresses)}",
    Serves: lambda one: f"all topics → {one.topic} {'is listed' if one.listed else 'is not listed'}",
    Put: lambda one: f"put {one.value}",
    Get: lambda one: f"get → {'nothing' if one.value is None else one.value}",
    Delete: lambda _: "delete",
}
