"""How far statements go: just before and just behind their times, and what only looks like a fault."""

from __future__ import annotations

import pytest

from harness.wire import RequestCode

from .script import CLIENT, GROUP, PLACE, TOPIC, Script


@pytest.fixture
def script() -> Script:
    return Script()


# -- membership ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "broken"),
    [(60, set()), (61, {"membership.heartbeat-may-be-lost"}), (121, {"membership.heartbeats-go-on"})],
)
def test_when_a_heartbeat_is_late(script: Script, span: float, broken: set[str]) -> None:
    script.beats(0)
    script.beats(span)
    assert script.remarks == broken


def test_who_has_left_or_is_gone_owes_no_heartbeat(script: Script) -> None:
    for number, end in enumerate((script.leaves, script.closes), 1):
        script.beats(0, client=f"client-{number}", on=number)
        end(10, on=number)
    script.asks_for_members(200, on=3)
    assert script.remarks == {"membership.unregistration-precedes-the-end"}, (
        "of the second, which only closed"
    )


def test_a_member_has_a_minute_for_its_first_heartbeat(script: Script) -> None:
    script.pulls(0, 0)
    script.beats(60)
    script.pulls(61, 0)
    assert script.remarks == set()


def test_a_heartbeat_on_another_connection_counts(script: Script) -> None:
    script.pulls(0, 0, on=1)
    script.beats(1, on=2)
    script.pulls(70, 0, on=1)
    script.beats(71, on=2)
    assert script.remarks == {"membership.heartbeat-may-be-lost"}


def test_a_client_that_connects_again_is_not_gone(script: Script) -> None:
    script.beats(0, on=1)
    script.closes(10, on=1)
    script.beats(11, on=2)
    script.leaves(20, on=2)
    script.closes(20, on=2)
    assert script.remarks == set()


def test_a_client_may_unregister_on_another_connection(script: Script) -> None:
    script.beats(0, on=1)
    script.closes(10, on=1)
    script.leaves(11, on=2)
    assert script.remarks == set()


def test_a_connection_that_is_given_up_for_want_of_an_answer_is_no_end(script: Script) -> None:
    script.beats(0)
    script.asks(1, RequestCode.QUERY_CONSUMER_OFFSET, PLACE, answer=None)
    script.closes(4)
    assert script.remarks == set()


@pytest.mark.parametrize(("decision", "broken"), [("0", True), ("8", False)])
def test_an_undecided_transaction_wants_no_answer(script: Script, decision: str, broken: bool) -> None:
    """As Go's client sends it: without the one-way bit."""
    script.beats(0)
    script.asks(1, RequestCode.END_TRANSACTION, {"commitOrRollback": decision}, answer=None)
    script.closes(4)
    assert ("membership.unregistration-precedes-the-end" in script.remarks) is broken


def test_a_server_may_close(script: Script) -> None:
    script.beats(0)
    script.closes(10, by="target")
    assert script.remarks == set()


@pytest.mark.parametrize(("after", "broken"), [(20, False), (21, True)])
def test_when_a_rebalance_is_late(script: Script, after: float, broken: bool) -> None:
    script.beats(0)
    script.asks_for_members(0)
    script.pushes(1, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": GROUP})
    script.asks_for_members(1 + after)
    assert script.remarks == ({"membership.rebalance-follows-notification"} if broken else set())


def test_who_shares_no_queues_does_not_rebalance(script: Script) -> None:
    script.beats(0, messageModel="BROADCASTING")
    script.pushes(1, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": GROUP})
    script.pulls(40, 0)
    assert script.remarks == set()


def test_who_has_left_does_not_rebalance(script: Script) -> None:
    script.beats(0)
    script.asks_for_members(0)
    script.pushes(1, RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {"consumerGroup": GROUP})
    script.leaves(2)
    script.asks(40, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC}, on=2)
    assert script.remarks == set()


def test_one_client_connects_again_under_its_id(script: Script) -> None:
    script.beats(0, on=1)
    script.beats(1, on=2)
    script.beats(2, on=2)
    assert "membership.client-id-is-of-one-client" not in script.remarks


# -- consuming -----------------------------------------------------------------------------------------------


def test_offsets_may_go_back_with_pulls(script: Script) -> None:
    script.beats(0)
    script.commits(1, 20)
    script.pulls(2, 5)
    script.commits(3, 6)
    assert script.remarks == set()


def test_offsets_may_go_back_once_they_are_asked_for_anew(script: Script) -> None:
    script.beats(0)
    script.commits(1, 20)
    script.asks_for_offset(2)
    script.commits(3, 10)
    assert script.remarks == set()


def test_offsets_go_back_when_the_broker_says_so(script: Script) -> None:
    script.beats(0)
    script.commits(1, 20)
    script.pushes(2, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, {"group": GROUP, "topic": TOPIC})
    script.commits(3, 0)
    assert script.remarks == set()


def test_two_members_commit_what_they_have(script: Script) -> None:
    for on, offset in ((1, 20), (2, 10)):
        script.beats(0, client=f"client-{on}", on=on)
        script.commits(1, offset, on=on)
    assert script.remarks == set()


def test_a_queue_that_was_given_anew_is_pulled_anew(script: Script) -> None:
    script.beats(0)
    script.pulls(1, 7, held=True)
    script.asks_for_offset(2)
    script.pulls(2, 7, held=True)
    assert script.remarks == set()


def test_an_application_that_seeks_may_abandon_a_pull(script: Script) -> None:
    script.beats(0, consumeType="CONSUME_ACTIVELY")
    script.pulls(1, 7, held=True)
    script.pulls(2, 7, held=True)
    assert script.remarks == set()


@pytest.mark.parametrize(("after", "broken"), [(60, False), (61, True)])
def test_when_a_lock_is_old(script: Script, after: float, broken: bool) -> None:
    for at in (0, 50):
        script.beats(at)
    script.locks(1)
    script.pulls(1 + after, 0)
    assert script.remarks == ({"consuming.lock-is-renewed"} if broken else set())


@pytest.mark.parametrize("lost", ["refused", "given up"])
def test_a_queue_without_a_lock_may_be_pulled(script: Script, lost: str) -> None:
    for at in (0, 50, 100):
        script.beats(at)
    script.locks(1)
    if lost == "refused":
        script.locks(10, given=False)
    else:
        script.locks(10, code=RequestCode.UNLOCK_BATCH_MQ)
    script.pulls(90, 0)
    assert script.remarks == set()


def test_a_lock_that_has_run_out_holds_no_one_back(script: Script) -> None:
    for at in (0, 50, 100):
        script.beats(at)
    script.locks(1)
    script.leaves(101)
    assert script.remarks == set()


# -- transactions and routes ---------------------------------------------------------------------------------

CHECK = {"tranStateTableOffset": "3", "commitLogOffset": "77", "msgId": "m", "transactionId": "m"}
END = {**CHECK, "producerGroup": "P", "commitOrRollback": "0", "fromTransactionCheck": "true"}


@pytest.mark.parametrize(("after", "broken"), [(60, False), (61, True)])
def test_when_an_answer_to_a_check_is_late(script: Script, after: float, broken: bool) -> None:
    script.asks_for_members(0)
    script.pushes(1, RequestCode.CHECK_TRANSACTION_STATE, CHECK)
    script.asks(1 + after, RequestCode.END_TRANSACTION, END)
    assert script.remarks == ({"transactions.check-is-answered"} if broken else set())


def test_an_answer_may_come_twice_and_an_end_of_its_own_is_no_answer(script: Script) -> None:
    script.asks_for_members(0)
    script.pushes(1, RequestCode.CHECK_TRANSACTION_STATE, CHECK)
    for _ in range(2):
        script.asks(2, RequestCode.END_TRANSACTION, END)
    own = {**END, "commitLogOffset": "99", "fromTransactionCheck": "false"}
    script.pushes(3, RequestCode.CHECK_TRANSACTION_STATE, {**CHECK, "commitLogOffset": "88"})
    script.asks(4, RequestCode.END_TRANSACTION, own)
    assert script.remarks == set()


@pytest.mark.parametrize(("at", "broken"), [(120, False), (121, True)])
def test_when_a_route_is_old(script: Script, at: float, broken: bool) -> None:
    script.asks(0, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC}, on=2)
    for second in (0, 50, 100):
        script.beats(second)
    script.pulls(at, 0)
    assert script.remarks == ({"routes.are-asked-for-again"} if broken else set())


def test_a_record_without_a_nameserver_says_nothing_about_routes(script: Script) -> None:
    for second in (0, 50, 100, 150):
        script.beats(second, client=CLIENT)
    script.pulls(199, 0)
    assert script.remarks == set()
