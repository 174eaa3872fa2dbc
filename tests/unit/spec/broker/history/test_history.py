"""Histories that are linearizable because they were made so are never called wrong; wrong ones are found."""

from __future__ import annotations

import pytest

from harness.program.broker.steps import Commit, Committed, MakeTopic, Pull, Send
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.step import Restart
from harness.program.steps import AnyStep
from harness.spec.broker.history.judge import judge
from harness.spec.broker.history.log_spec import LogSpec
from harness.spec.broker.history.operations import Append, End, Nothing, Restarted, Shown
from harness.spec.linear import Call, search
from harness.spec.observation import Answered, Observation, Unanswered
from harness.wire import Command

from .log_faults import FAULTS, SLOW
from .simulated import simulated


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_linearizable_history_is_not_rejected(profile: str, lost: float) -> None:
    """Also where one answer of ten never comes: its request may have been carried out, or not."""
    judged = 0
    for seed in range(15):
        observed, names = simulated(f"sound-{seed}", profile, lost=lost)
        judgement = judge(observed, profile, names)
        assert judgement.violations == (), f"seed {seed}:\n{judgement.violations}"
        assert judgement.unknown == ()
        judged += judgement.keys
    assert judged > 60


@pytest.mark.parametrize("name", SLOW)
def test_slow_broker_is_not_rejected(name: str) -> None:
    """Messages may become visible some time behind their answers."""
    for seed in range(15):
        observed, names = simulated(f"slow-{seed}", "5.3", fault=SLOW[name])
        assert judge(observed, "5.3", names).violations == (), f"seed {seed}"


def test_broker_that_is_too_slow_is_found() -> None:
    found: set[str | None] = set()
    for seed in range(15):
        observed, names = simulated(f"slow-{seed}", "5.3", fault=SLOW["queues-are-written-a-second-later"])
        found |= {one.anomaly for one in judge(observed, "5.3", names, term=0.2).violations}
    assert "lost message" in found or "overdue message" in found


@pytest.mark.parametrize("name", FAULTS)
def test_lost_race_is_found_and_named(name: str) -> None:
    fault, anomalies = FAULTS[name]
    found: set[str | None] = set()
    for seed in range(40):
        observed, names = simulated(f"race-{seed}", "5.3", fault=fault)
        found |= {violation.anomaly for violation in judge(observed, "5.3", names).violations}
        if found & anomalies:
            break
    assert found & anomalies, f"{name}: {found}"


# --- what need not be ---------------------------------------------------------------------------------------


def _calls(*done: tuple[object, float, float]) -> list[Call]:
    """What was done between two moments each; an unanswered send need not have been carried out."""
    return [
        Call(
            number=number,
            action=action,
            begin=(begin, 0.0),
            end=(end, 0.0),
            required=not (isinstance(action, Append) and action.accepted is None),
            reads=isinstance(action, Shown | Nothing | End),
        )
        for number, (action, begin, end) in enumerate(done)
    ]


def test_message_without_an_answer_may_be_there_or_not() -> None:
    maybe = Append(("m0",), accepted=None)
    for reading in (Nothing(0), Shown(0, ((0, "m0"),))):
        calls = _calls((maybe, 0, 100), (reading, 1, 2))
        assert search(LogSpec(), calls).answer == "linearizable"


def test_message_becomes_visible_behind_its_answer() -> None:
    send = Append(("m0",), 0, due=3.0)
    assert search(LogSpec(), _calls((send, 0, 1), (Nothing(0), 2, 2.5))).answer == "linearizable"
    assert search(LogSpec(), _calls((send, 0, 1), (Nothing(0), 4, 5))).answer == "violated"


def test_batch_becomes_visible_message_by_message() -> None:
    calls = _calls(
        (Append(("m0", "m1"), 0, due=9.0), 0, 1), (Shown(0, ((0, "m0"),)), 2, 3), (Nothing(1), 4, 5)
    )
    assert search(LogSpec(), calls).answer == "linearizable"


def test_end_may_run_ahead_of_pulls_and_not_lag_behind() -> None:
    send = (Append(("m0", "m1"), 0, due=9.0), 0, 1)
    shown = (Shown(0, ((0, "m0"), (1, "m1"))), 2, 3)
    assert search(LogSpec(), _calls(send, (End(2), 2, 3), (Nothing(0), 4, 5))).answer == "linearizable"
    assert search(LogSpec(), _calls(send, shown, (End(1), 4, 5))).answer == "violated"


def test_broker_that_was_started_again_may_show_its_messages_later() -> None:
    send = (Append(("m0",), 0, due=2.0), 0, 1)
    shown = (Shown(0, ((0, "m0"),)), 1, 2)
    restarted = (Restarted(9.0), 3, 4)
    assert search(LogSpec(), _calls(send, shown, restarted, (Nothing(0), 5, 6))).answer == "linearizable"
    assert search(LogSpec(), _calls(send, shown, restarted, (Nothing(0), 10, 11))).answer == "violated"


# --- from observations to calls -----------------------------------------------------------------------------


def _observed(*done: tuple[AnyStep, Command | None]) -> tuple[list[Observation], Names]:
    """One step after another, each with its answer."""
    return [
        Observation(
            number=number,
            step=step,
            invoked=2.0 * number,
            returned=2.0 * number + 1,
            outcome=Unanswered() if answer is None else Answered(answer),
        )
        for number, (step, answer) in enumerate(done)
    ], Names(chance("observed"))


def _answer(code: int = 0, **ext: str) -> Command:
    return Command(code=code, opaque=0, flag=1, ext=dict(ext))


def test_offsets_are_not_judged_where_the_broker_was_killed() -> None:
    """It may have forgotten what was committed just before."""
    steps: list[tuple[AnyStep, Command | None]] = [
        (MakeTopic(queues=1), _answer()),
        (Commit(offset=5), _answer()),
        (Restart(how="kill"), None),
        (Committed(), _answer(offset="0")),
    ]
    observed, names = _observed(*steps)
    assert len(judge(observed, "5.3", names).unjudged) == 1
    observed, names = _observed(*(one for one in steps if not isinstance(one[0], Restart)))
    assert [one.anomaly for one in judge(observed, "5.3", names).violations] == ["lost commit"]


def test_commit_that_was_refused_is_none() -> None:
    for code in (17, 26):
        observed, names = _observed((Commit(offset=5), _answer(code)), (Committed(), _answer(offset="0")))
        assert judge(observed, "5.3", names).violations == ()


def test_send_that_was_refused_for_want_of_time_may_have_been_carried_out() -> None:
    observed, names = _observed(
        (MakeTopic(queues=1), _answer()),
        (Send(), _answer(2)),
        (Send(message="m1"), _answer(queueId="0", queueOffset="1")),
    )
    assert judge(observed, "5.3", names).violations == ()


def test_queue_that_the_broker_chooses_is_in_its_answer() -> None:
    observed, names = _observed(
        (MakeTopic(queues=2), _answer()),
        (Send(queue=-1), _answer(queueId="1", queueOffset="0")),
        (Pull(queue=1), _answer(19, maxOffset="1", minOffset="0", nextBeginOffset="0")),
        (Pull(queue=0), _answer(19, maxOffset="0", minOffset="0", nextBeginOffset="0")),
    )
    assert judge(observed, "5.3", names, term=9.0).violations == ()
    found = judge(observed, "5.3", names, term=0.5)
    assert [one.anomaly for one in found.violations] == ["lost message"]
