"""What the player sends, and what it says came of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.machines.player import Player
from harness.model import Answered, Ended, Observed, Unanswered
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import (
    AnyStep,
    Close,
    ClusterInfo,
    Reconnect,
    Register,
    Restart,
    Route,
    Time,
    Unknown,
)
from harness.session import Session
from harness.session.exchange import Asked
from harness.session.outcome import ClosedBy
from harness.targets.builtin import BuiltinInstance
from harness.trace import Closed, Opened, Received, Sent
from harness.wire import FrameBuffer, decode

TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}


def playing(servers: int = 1, profile: str = "5.3") -> Player:
    instances = [BuiltinInstance(profile, None) for _ in range(servers)]  # type: ignore[arg-type]
    return Player(instances, profile, Names(chance("player")))  # type: ignore[arg-type]


@pytest.fixture
def player() -> Iterator[Player]:
    one = playing()
    yield one
    one.close()


def code(seen: Observed) -> int:
    assert isinstance(seen.outcome, Answered), seen
    return seen.outcome.command.code


def played(player: Player, *steps: AnyStep) -> list[Observed]:
    return [seen for step in steps for seen in player.play(step)]


def sent(player: Player) -> list[bytes]:
    return [event.data for event in player.trace.events if isinstance(event, Sent)]


def frames(data: bytes) -> list[int]:
    buffer = FrameBuffer()
    buffer.feed(data)
    found = []
    while (frame := buffer.next_frame()) is not None:
        found.append(decode(frame).code)
    assert not buffer.pending
    return found


def test_an_answer_is_observed_with_the_event_that_brought_it(player: Player) -> None:
    (seen,) = player.play(Register(conn="k0", topics=TOPICS))
    assert (seen.number, code(seen), seen.server) == (0, 0, 0)
    assert isinstance(seen.outcome, Answered)
    assert isinstance(player.trace.events[seen.outcome.event], Received)
    assert isinstance(player.trace.events[seen.asked], Sent)


def test_names_of_the_program_are_in_the_head_of_the_trace(player: Player) -> None:
    player.play(Register(topics=TOPICS))
    head = player.trace.header
    assert head.nonce == player.names.nonce
    assert {"b0", "c0", "T0", "a0"} <= set(head.names.values())


def test_a_frame_is_cut_where_the_step_says(player: Player) -> None:
    seen = played(player, Route(cuts=(1, -1, 999_999, -1)))
    assert code(seen[0]) == 17
    pieces = sent(player)
    assert [len(pieces[0]), len(pieces[2])] == [1, 1]
    assert len(pieces) == 3


def test_time_passes_at_each_cut(player: Player) -> None:
    (seen,) = player.play(Route(cuts=(1, 2), stall=3))
    assert seen.returned - seen.invoked >= 6


def test_what_is_held_goes_out_with_the_next_frame_of_its_connection(player: Player) -> None:
    assert player.play(Route(conn="k0", held=True)) == []
    assert [one.number for one in player.play(ClusterInfo(conn="k1"))] == [1]
    seen = player.play(ClusterInfo(conn="k0"))
    assert [(one.number, code(one)) for one in seen] == [(0, 17), (2, 0)]
    assert frames(sent(player)[-1]) == [105, 106]


def test_what_is_held_for_good_goes_out_at_the_end(player: Player) -> None:
    player.play(Route(held=True))
    assert [code(one) for one in player.finish()] == [17]


def test_what_is_sent_twice_is_observed_twice(player: Player) -> None:
    seen = player.play(ClusterInfo(twice=True))
    assert [(one.number, code(one)) for one in seen] == [(0, 0), (0, 0)]
    assert frames(sent(player)[0]) == [106, 106]
    assert not player.uncalled


def test_what_is_not_awaited_is_observed_when_somebody_waits(player: Player) -> None:
    assert player.play(Route(conn="k0", awaited=False)) == []
    assert player.play(Route(conn="k1", awaited=False)) == []
    assert [one.number for one in player.play(ClusterInfo())] == [0, 1, 2]


def test_a_one_way_request_is_not_waited_for(player: Player) -> None:
    (seen,) = player.play(Register(topics=TOPICS, oneway=True))
    assert seen.outcome is None
    assert code(player.play(Route())[0]) == 0


def test_a_request_that_breaks_off_is_observed_as_a_reset(player: Player) -> None:
    (seen,) = player.play(Register(topics=TOPICS, broken=-1))
    assert seen.step == Close(how="reset")
    assert code(player.play(Route())[0]) == 17


def test_a_reset_behind_a_whole_request_leaves_it_open_what_became_of_it(player: Player) -> None:
    seen = player.play(Register(conn="k0", topics=TOPICS, broken=999_999))
    assert [type(one.step) for one in seen] == [Register, Close]
    closes = [event for event in player.trace.events if isinstance(event, Closed)]
    assert [close.how for close in closes] == ["reset"]
    assert isinstance(seen[0].outcome, Answered | Unanswered)


def test_an_end_that_the_target_made_is_observed_as_a_close(player: Player) -> None:
    played(player, Route(conn="k0"))
    seen = player.play(Time(seconds=200, idle=("k0",)))
    assert [type(one.step) for one in seen] == [Time, Close]
    assert isinstance(seen[1].outcome, Ended)
    assert isinstance(player.trace.events[seen[1].outcome.event], Closed)
    assert code(player.play(Route(conn="k0"))[0]) == 17


def test_connections_are_kept_busy_while_time_passes(player: Player) -> None:
    played(player, Route(conn="k0"))
    assert [type(one.step) for one in player.play(Time(seconds=200))] == [Time]


def test_silence_is_told_from_not_knowing(player: Player) -> None:
    (seen,) = player.play(Unknown())
    assert isinstance(seen.outcome, Answered)
    (seen,) = player.play(Route(binary=True))
    assert isinstance(seen.outcome, Answered)


def test_a_new_connection_takes_over_and_the_old_one_stays_open(player: Player) -> None:
    played(player, Register(conn="k0", topics=TOPICS), Reconnect(conn="k0", old="k0-old"))
    opened = [event.connection for event in player.trace.events if isinstance(event, Opened)]
    assert opened == [1, 2]
    assert code(player.play(Route())[0]) == 0
    played(player, Close(conn="k0-old"), Time(seconds=1))
    assert code(player.play(Route())[0]) == 17


@pytest.mark.parametrize("how", ["kill", "term"])
def test_a_restart_ends_connections_and_forgets_brokers(player: Player, how: str) -> None:
    seen = played(player, Register(conn="k0", topics=TOPICS), Restart(how=how), Route(conn="k0"))  # type: ignore[arg-type]
    assert [type(one.step) for one in seen] == [Register, Restart, Route]
    assert code(seen[-1]) == 17


def test_half_a_close_lets_what_is_under_way_be_answered(player: Player) -> None:
    seen = played(player, Route(awaited=False), Close(how="half"), ClusterInfo())
    assert [type(one.step) for one in seen] == [Route, Close, ClusterInfo]


def test_behind_our_half_of_a_close_the_end_of_the_target_says_nothing(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may read that nothing more comes before it has answered."""

    def ended(session: Session, asked: Asked, *rest: object, **more: object) -> ClosedBy:
        asked.link.close("fin")
        return ClosedBy(connection=asked.link.number, event=1, at=0.0, how="fin", by="target")

    monkeypatch.setattr(Session, "decide", ended)
    seen = played(player, Route(awaited=False), Close(how="half"))
    assert [one.outcome for one in seen] == [Unanswered(), None]


def test_several_servers_have_connections_and_clocks_of_their_own_and_one_trace() -> None:
    player = playing(servers=2)
    played(player, Register(server=0, topics=TOPICS), Route(server=0), Route(server=1))
    seen = player.play(Time(seconds=5))
    assert [one.server for one in seen] == [0, 1]
    opened = [event for event in player.trace.events if isinstance(event, Opened)]
    assert [(event.connection, event.server) for event in opened] == [(1, 0), (2, 1)]
    player.close()


def test_a_server_that_there_is_not_is_refused(player: Player) -> None:
    with pytest.raises(ValueError, match="expected a server from 0 to 0, got 1"):
        player.play(Route(server=1))
