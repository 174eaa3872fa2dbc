"""How the calls on a NameServer are written in a timeline."""

from __future__ import annotations

from harness.spec.history.timeline import OF_REGISTERS, Texts
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


TEXTS: Texts = {
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
    **OF_REGISTERS,
}
"""By the type of the action."""
