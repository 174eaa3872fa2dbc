"""The built-in target dies of an exception as a process does, or endures it as `serve` does."""

from __future__ import annotations

import pytest

from harness.session import TargetDied, TransportTimeout
from harness.targets import TargetError, parse
from harness.targets.in_process import InProcess
from harness.wire import Command, RequestCode, encode
from reference_impl.nameserver import Endpoint
from reference_impl.remoting.effects import Effect, Persist, Send
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.errors import DurabilityError

LAST_WORDS = "the target died: KeyError: 'T0'"


def _stumble(*_: object) -> None:
    raise KeyError("T0")


def test_each_later_use_says_what_it_died_of_until_it_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = parse("builtin:5.3").start()
    one, other = instance.open(), instance.open()
    with monkeypatch.context() as broken:
        broken.setattr(Endpoint, "received", _stumble)
        with pytest.raises(TargetDied, match=LAST_WORDS):
            one.send(b"?")
    assert not instance.alive()
    assert "KeyError: 'T0'" in instance.output()
    for use in (
        instance.open,
        lambda: one.send(b"?"),
        lambda: other.receive(1.0),
        lambda: instance.clock.pause(1.0),
        lambda: instance.clock.advance(1.0, lambda: None),
    ):
        with pytest.raises(TargetDied, match=LAST_WORDS):
            use()
    one.close("fin")
    other.close("half")
    instance.restart("kill")
    assert instance.alive()
    instance.open().send(b"?")
    instance.stop()


def test_disk_keeps_what_a_file_said_before() -> None:
    instance = parse("builtin:5.3").start()
    assert isinstance(instance, InProcess)
    for text in (b"1", b"2", b"3"):
        instance._effect(Persist("table", text))
    assert instance._stored() == {"table": b"3", "table.bak": b"2"}
    instance.stop()


def test_what_dies_at_once_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "tick", _stumble)
    with pytest.raises(TargetError, match=LAST_WORDS):
        parse("builtin:5.3").start()


def enduring() -> InProcess:
    instance = parse("builtin:5.3").start()
    assert isinstance(instance, InProcess)
    instance.endures = True
    return instance


ASKED = encode(Command(code=RequestCode.GET_BROKER_CLUSTER_INFO))


def answers(instance: InProcess) -> bool:
    connection = instance.open()
    connection.send(ASKED)
    return bool(connection.receive(1.0))


@pytest.mark.parametrize("given", [None, [Send(1, None)]])  # type: ignore[arg-type]  # what a faulty server gives
def test_one_that_endures_loses_the_connection_that_it_stumbles_over(
    given: list[Effect] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = enduring()
    one, other = instance.open(), instance.open()
    with monkeypatch.context() as broken:
        broken.setattr(Endpoint, "received", lambda *_: given)
        one.send(ASKED)
    assert one.receive(1.0) == b""
    assert one.send(b"?") is False
    other.send(ASKED)
    assert other.receive(1.0)
    assert instance.alive()


def test_one_that_endures_says_nothing_behind_a_file_that_has_no_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = parse("builtin:5.3", role="broker").start()
    assert isinstance(instance, InProcess)
    instance.endures = True
    one = instance.open()
    nameless = Persist(b"x", "name")  # type: ignore[arg-type]
    with monkeypatch.context() as broken:
        broken.setattr(RemotingEndpoint, "received", lambda *_: [nameless, Send(1, b"said")])
        one.send(ASKED)
    with pytest.raises(TransportTimeout):
        one.receive(1.0)
    one.send(ASKED)
    assert one.receive(1.0)


@pytest.mark.parametrize("method", ["half_closed", "lost"])
def test_one_that_endures_stumbles_over_an_end(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = enduring()
    monkeypatch.setattr(Endpoint, method, _stumble)
    instance.open().close("half")
    instance.open().close("fin")
    assert answers(instance)


def test_one_that_endures_does_nothing_in_time_after_it_has_stumbled(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = enduring()
    idle = instance.open()
    with monkeypatch.context() as broken:
        broken.setattr(Endpoint, "act", _stumble)
        instance.clock.pause(3_600.0)
    with pytest.raises(TransportTimeout):
        idle.receive(3_600.0)
    instance.open().close("fin")
    assert idle.receive(1.0) == b"", "what a peer does makes it look again at what is due"


def test_one_that_endures_ends_with_its_store_and_where_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose(*_: object) -> None:
        raise DurabilityError("the disk is full")

    instance = enduring()
    with monkeypatch.context() as broken:
        broken.setattr(Endpoint, "received", lose)
        with pytest.raises(TargetDied, match="the disk is full"):
            instance.open().send(ASKED)
    assert not instance.alive()
    monkeypatch.setattr(Endpoint, "tick", _stumble)
    with pytest.raises(TargetDied, match=LAST_WORDS):
        instance.restart("kill")
