"""What a controller may answer: sets of possible states, by observations made by hand."""

from __future__ import annotations

from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.controller_steps import (
    AllowUnclean,
    AlterInSync,
    ApplyId,
    Elect,
    RegisterReplica,
    ReplicaBeat,
    ReplicaInfo,
    SyncStateData,
)
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep
from harness.spec import Answered, Ended, Observation, Unanswered
from harness.spec.nameserver.controller.tracker import ControllerTracker
from harness.spec.observation import Outcome
from harness.wire import Command, ResponseCode
from harness.wire.bodies import SyncStateSet

NAMES = Names(chance("names"))
HOUR = 3600.0


class Played:
    """A controller that answers what the test says, at the times that it says."""

    def __init__(self, jitter: float = 0.0) -> None:
        self.tracker = ControllerTracker("5.3", NAMES, jitter=jitter)
        self.broken: list[str] = []
        self.now = 0.0
        self._number = -1

    def see(self, step: AnyStep, outcome: Outcome = None, *, took: float = 0.0) -> None:
        self._number += 1
        begun, self.now = self.now, self.now + took
        seen = Observation(number=self._number, step=step, invoked=begun, returned=self.now, outcome=outcome)
        self.broken += [one.statement for one in self.tracker.observe(seen)]

    def answer(
        self, step: AnyStep, code: int = 0, ext: dict[str, str] | None = None, body: bytes = b""
    ) -> None:
        self.see(step, Answered(Command(code=code, opaque=1, flag=1, ext=dict(ext or {}), body=body)))

    def wait(self, seconds: int) -> None:
        self.see(Time(seconds=seconds), took=float(seconds))

    def begin(self, *numbers: int, master: int = 1) -> None:
        """These replicas live, are in sync, and this one is the master."""
        for number in numbers:
            names = {"clusterName": NAMES.name("c0"), "brokerName": NAMES.name("b0")}
            self.answer(ApplyId(id=number, address=f"a{number}"), ext=names)
            self.answer(ReplicaBeat(conn=f"k{number}", id=number))
        self.see(Elect(id=master, oneway=True))
        self.info(master, 1, {master}, 1)
        if len(numbers) > 1:
            self.see(AlterInSync(id=master, ids=numbers, oneway=True))
            self.info(master, 1, set(numbers), 2)

    def info(self, master: int | None, epoch: int, in_sync: set[int], set_epoch: int) -> None:
        """The controller shows this."""
        ext = {"masterEpoch": str(epoch)}
        if master is not None:
            ext |= {"masterBrokerId": str(master), "masterAddress": NAMES.address(f"a{master}")}
        self.answer(ReplicaInfo(), ext=ext, body=SyncStateSet(sorted(in_sync), set_epoch).encode())


def test_a_master_whose_connection_ends_is_replaced_soon_and_by_then() -> None:
    for shown_after, shown, broken in (
        (0, (1, 1, {1, 2}, 2), []),
        (1, (2, 2, {2}, 3), []),
        (4, (2, 2, {2}, 3), []),
        (4, (1, 1, {1, 2}, 2), ["ns.controller.lost-master-is-replaced"]),
    ):
        played = Played()
        played.begin(1, 2)
        played.see(Close(conn="k1"))
        played.wait(shown_after)
        played.info(*shown)
        assert played.broken == broken


def test_of_equal_logs_any_may_win_and_then_it_has() -> None:
    for winner in (2, 3):
        played = Played()
        played.begin(1, 2, 3)
        played.see(Close(conn="k1"))
        played.wait(4)
        played.info(winner, 2, {winner}, 3)
        assert played.broken == []
        played.info(5 - winner, 2, {5 - winner}, 3)
        assert played.broken == ["ns.controller.longest-log-is-elected"]


def test_a_controller_without_a_candidate_may_look_several_times() -> None:
    for epoch, broken in ((2, 0), (4, 0), (1, 1)):
        played = Played()
        played.begin(1)
        played.see(Close(conn="k1"))
        played.wait(4)
        played.info(None, epoch, {1}, 1)
        assert len(played.broken) == broken


def test_an_expired_master_has_five_seconds_more() -> None:
    for waited, broken in ((39, 0), (44, 0), (60, 1)):
        played = Played()
        played.begin(1, 2)
        played.answer(ReplicaBeat(conn="k1", lasts=40_000))
        played.wait(waited)
        played.info(1, 1, {1, 2}, 2)
        assert len(played.broken) == broken


def test_a_clock_with_jitter_gives_a_controller_more_time() -> None:
    played = Played(jitter=5.0)
    played.begin(1, 2)
    played.see(Close(conn="k1"))
    played.wait(6)
    played.info(1, 1, {1, 2}, 2)
    played.wait(20)
    played.info(2, 2, {2}, 3)
    assert played.broken == []


def test_an_election_without_an_answer_has_happened_or_not() -> None:
    for shown in ((1, 1, {1, 2}, 2), (2, 2, {2}, 3)):
        played = Played()
        played.begin(1, 2)
        played.see(Elect(id=2, designate=True), Unanswered())
        played.info(*shown)
        assert played.broken == []
    played.wait(9)
    played.info(1, 1, {1, 2}, 2)
    assert played.broken


def test_a_gone_master_of_a_restarted_server_is_missed_when_another_is_heard() -> None:
    played = Played()
    played.begin(1, 2)
    played.see(Restart(how="kill"))
    played.wait(30)
    played.info(1, 1, {1, 2}, 2)
    played.answer(ReplicaBeat(conn="k2", id=2))
    played.wait(9)
    played.info(2, 2, {2}, 3)
    assert played.broken == []


def test_what_is_forgotten_in_a_restart_is_missed() -> None:
    for how in ("kill", "term"):
        played = Played()
        played.begin(1, 2)
        played.see(Restart(how="kill" if how == "kill" else "term"))
        played.answer(ReplicaInfo(), int(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST))
        assert played.broken == [f"ns.controller.state-survives-a-{'kill' if how == 'kill' else 'restart'}"]


def test_any_of_several_refusals_is_right_and_no_other() -> None:
    wrong = AlterInSync(id=2, master_epoch=7, ids=(2,), set_epoch=2)
    for code, broken in (
        (ResponseCode.CONTROLLER_INVALID_MASTER, 0),
        (ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH, 0),
        (ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED, 0),
        (ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH, 1),
        (ResponseCode.SUCCESS, 1),
    ):
        played = Played()
        played.begin(1, 2)
        played.answer(wrong, int(code))
        assert len(played.broken) == broken


def test_elections_that_are_due_when_a_setting_changes_may_be_as_before() -> None:
    for shown in ((2, 2, {2}, 4), (None, 2, {1}, 3)):
        played = Played()
        played.begin(1, 2)
        played.see(AlterInSync(ids=(1,), set_epoch=2, oneway=True))
        played.info(1, 1, {1}, 3)
        played.answer(AllowUnclean())
        played.see(Close(conn="k1"))
        played.answer(AllowUnclean(allowed=False))
        played.wait(4)
        played.info(*shown)
        assert played.broken == []


def test_only_the_connection_of_a_replica_that_has_run_out_may_end() -> None:
    played = Played()
    played.answer(ReplicaBeat(conn="k1", lasts=40_000))
    played.wait(44)
    played.see(Close(conn="k1"), Ended())
    assert played.broken == []
    played.answer(ReplicaBeat(conn="k1"))
    played.see(Close(conn="k1"), Ended())
    played.see(Close(conn="q"), Ended())
    assert played.broken == [
        "ns.controller.heartbeat-counts-for-its-time",
        "ns.errors.failure-keeps-the-connection",
    ]


def test_a_heartbeat_without_an_answer_may_run_out() -> None:
    for before in (False, True):
        played = Played()
        if before:
            played.answer(ReplicaBeat(conn="k1"))
        played.see(ReplicaBeat(conn="k1", lasts=None, oneway=True))
        played.wait(12)
        played.see(Close(conn="k1"), Ended())
        assert played.broken == []


def test_what_gives_up_after_its_own_time_tells_nothing() -> None:
    played = Played()
    given_up = Command(code=1, opaque=1, flag=1, remark="java.util.concurrent.TimeoutException")
    played.see(ApplyId(), Answered(given_up))
    played.answer(ReplicaInfo(), int(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST))
    played.answer(SyncStateData(), body=b'{"replicasInfoTable":{}}')
    assert played.broken == []


def test_a_request_that_lacks_a_field_may_be_refused_for_what_it_has() -> None:
    registers = RegisterReplica(drop=("brokerAddress",))
    unknown = int(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED)
    played = Played()
    played.answer(registers, unknown)
    played.answer(registers, int(ResponseCode.SYSTEM_ERROR))
    assert played.broken == []
    played.begin(1)
    played.answer(registers, unknown)
    assert played.broken == ["ns.controller.missing-fields-are-refused"]
