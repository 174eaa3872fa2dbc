"""What the executor sends, and what it says came of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.engine.executor import Executor
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.steps import ClusterInfo, Register, Route, Unknown
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep
from harness.session import Session
from harness.session.exchange import SentRequest
from harness.session.outcome import ClosedBy
from harness.spec import Answered, Ended, Observation, Unanswered
from harness.targets.builtin.target import BuiltinInstance
from harness.trace import Closed, Opened, Received, Sent
from harness.wire import FrameBuffer, decode

TOPICS = {"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}


def playing(servers: int = 1, profile: str = "5.3") -> Executor:
    instances = [BuiltinInstance(profile, None) for _ in range(servers)]  # type: ignore[arg-type]
    return Executor(instances, profile, Names(chance("executor")))  # type: ignore[arg-type]


@pytest.fixture
def executor() -> Iterator[Executor]:
    one = playing()
    yield one
    one.close()


def code(seen: Observation) -> int:
    assert isinstance(seen.outcome, Answered), seen
    return seen.outcome.command.code


def played(executor: Executor, *steps: AnyStep) -> list[Observation]:
    return [seen for step in steps for seen in executor.play(step)]


def sent(executor: Executor) -> list[bytes]:
    return [event.data for event in executor.trace.events if isinstance(event, Sent)]


def frames(data: bytes) -> list[int]:
    buffer = FrameBuffer()
    buffer.feed(data)
    found = []
    while (frame := buffer.next_frame()) is not None:
        found.append(decode(frame).code)
    assert not buffer.pending
    return found


def test_an_answer_is_observed_with_the_event_that_brought_it(executor: Executor) -> None:
    (seen,) = executor.play(Register(conn="k0", topics=TOPICS))
    assert (seen.number, code(seen), seen.server) == (0, 0, 0)
    assert isinstance(seen.outcome, Answered)
    assert isinstance(executor.trace.events[seen.outcome.event], Received)
    assert isinstance(executor.trace.events[seen.asked], Sent)


def test_names_of_the_program_are_in_the_head_of_the_trace(executor: Executor) -> None:
    executor.play(Register(topics=TOPICS))
    head = executor.trace.header
    assert head.nonce == executor.names.nonce
    assert {"b0", "c0", "T0", "a0"} <= set(head.names.values())


def test_a_frame_is_cut_where_the_step_says(executor: Executor) -> None:
    seen = played(executor, Route(cuts=(1, -1, 999_999, -1)))
    assert code(seen[0]) == 17
    pieces = sent(executor)
    assert [len(pieces[0]), len(pieces[2])] == [1, 1]
    assert len(pieces) == 3


def test_time_passes_at_each_cut(executor: Executor) -> None:
    (seen,) = executor.play(Route(cuts=(1, 2), stall=3))
    assert seen.returned - seen.invoked >= 6


def test_what_is_held_goes_out_with_the_next_frame_of_its_connection(executor: Executor) -> None:
    assert executor.play(Route(conn="k0", held=True)) == []
    assert [one.number for one in executor.play(ClusterInfo(conn="k1"))] == [1]
    seen = executor.play(ClusterInfo(conn="k0"))
    assert [(one.number, code(one)) for one in seen] == [(0, 17), (2, 0)]
    assert frames(sent(executor)[-1]) == [105, 106]


def test_what_is_held_for_good_goes_out_at_the_end(executor: Executor) -> None:
    executor.play(Route(held=True))
    assert [code(one) for one in executor.finish()] == [17]


def test_what_is_sent_twice_is_observed_twice(executor: Executor) -> None:
    seen = executor.play(ClusterInfo(twice=True))
    assert [(one.number, code(one)) for one in seen] == [(0, 0), (0, 0)]
    assert frames(sent(executor)[0]) == [106, 106]
    assert not executor.unsolicited


def test_what_is_not_awaited_is_observed_when_somebody_waits(executor: Executor) -> None:
    assert executor.play(Route(conn="k0", awaited=False)) == []
    assert executor.play(Route(conn="k1", awaited=False)) == []
    assert [one.number for one in executor.play(ClusterInfo())] == [0, 1, 2]


def test_a_one_way_request_is_not_waited_for(executor: Executor) -> None:
    (seen,) = executor.play(Register(topics=TOPICS, oneway=True))
    assert seen.outcome is None
    assert code(executor.play(Route())[0]) == 0


def test_a_request_that_breaks_off_is_observed_as_a_reset(executor: Executor) -> None:
    (seen,) = executor.play(Register(topics=TOPICS, broken=-1))
    assert seen.step == Close(how="reset")
    assert code(executor.play(Route())[0]) == 17


def test_a_reset_behind_a_whole_request_leaves_it_open_what_became_of_it(executor: Executor) -> None:
    seen = executor.play(Register(conn="k0", topics=TOPICS, broken=999_999))
    assert [type(one.step) for one in seen] == [Register, Close]
    closes = [event for event in executor.trace.events if isinstance(event, Closed)]
    assert [close.how for close in closes] == ["reset"]
    assert isinstance(seen[0].outcome, Answered | Unanswered)


def test_an_end_that_the_target_made_is_observed_as_a_close(executor: Executor) -> None:
    played(executor, Route(conn="k0"))
    seen = executor.play(Time(seconds=200, idle=("k0",)))
    assert [type(one.step) for one in seen] == [Time, Close]
    assert isinstance(seen[1].outcome, Ended)
    assert isinstance(executor.trace.events[seen[1].outcome.event], Closed)
    assert code(executor.play(Route(conn="k0"))[0]) == 17


def test_connections_are_kept_busy_while_time_passes(executor: Executor) -> None:
    played(executor, Route(conn="k0"))
    assert [type(one.step) for one in executor.play(Time(seconds=200))] == [Time]


def test_silence_is_not_ignorance(executor: Executor) -> None:
    (seen,) = executor.play(Unknown())
    assert isinstance(seen.outcome, Answered)
    (seen,) = executor.play(Route(binary=True))
    assert isinstance(seen.outcome, Answered)


def test_a_new_connection_takes_over_and_the_old_one_stays_open(executor: Executor) -> None:
    played(executor, Register(conn="k0", topics=TOPICS), Reconnect(conn="k0", old="k0-old"))
    opened = [event.connection for event in executor.trace.events if isinstance(event, Opened)]
    assert opened == [1, 2]
    assert code(executor.play(Route())[0]) == 0
    played(executor, Close(conn="k0-old"), Time(seconds=1))
    assert code(executor.play(Route())[0]) == 17


@pytest.mark.parametrize("how", ["kill", "term"])
def test_a_restart_ends_connections_and_forgets_brokers(executor: Executor, how: str) -> None:
    seen = played(executor, Register(conn="k0", topics=TOPICS), Restart(how=how), Route(conn="k0"))  # type: ignore[arg-type]
    assert [type(one.step) for one in seen] == [Register, Restart, Route]
    assert code(seen[-1]) == 17


def test_half_a_close_lets_what_is_under_way_be_answered(executor: Executor) -> None:
    seen = played(executor, Route(awaited=False), Close(how="half"), ClusterInfo())
    assert [type(one.step) for one in seen] == [Route, Close, ClusterInfo]


def test_behind_our_half_of_a_close_the_end_of_the_target_says_nothing(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may read that nothing more comes before it has answered."""

    def ended(session: Session, asked: SentRequest, *rest: object, **more: object) -> ClosedBy:
        asked.link.close("fin")
        return ClosedBy(connection=asked.link.number, event=1, at=0.0, how="fin", by="target")

    monkeypatch.setattr(Session, "decide", ended)
    seen = played(executor, Route(awaited=False), Close(how="half"))
    assert [one.outcome for one in seen] == [Unanswered(), None]


def test_several_servers_have_connections_and_clocks_of_their_own_and_one_trace() -> None:
    executor = playing(servers=2)
    played(executor, Register(server=0, topics=TOPICS), Route(server=0), Route(server=1))
    seen = executor.play(Time(seconds=5))
    assert [one.server for one in seen] == [0, 1]
    opened = [event for event in executor.trace.events if isinstance(event, Opened)]
    assert [(event.connection, event.server) for event in opened] == [(1, 0), (2, 1)]
    executor.close()


def test_a_missing_server_is_refused(executor: Executor) -> None:
    with pytest.raises(ValueError, match="expected a server from 0 to 0, got 1"):
        executor.play(Route(server=1))
