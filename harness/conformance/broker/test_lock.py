"""Chapter lock: queues that one client of a group consumes in order (codes 41 and 42)."""

from harness.conformance import Reply, case
from harness.session import BrokerSession
from harness.wire.broker_codes import BrokerResponse

SUCCESS = BrokerResponse.SUCCESS
LIVES = 60
"""Protocol seconds for which a lock lasts without being renewed."""


def place(bk: BrokerSession) -> tuple[str, str, list[tuple[str, int]]]:
    """A group, a topic, and two queues of it."""
    topic = bk.topic()
    return bk.group(), topic, [(topic, 0), (topic, 1)]


@case("bk.lock.is-given-to-one-client", kills=["locks-are-given-to-all"])
def test_is_given_to_one_client(bk: BrokerSession) -> None:
    """A queue is one client's."""
    group, _, queues = place(bk)
    bk.lock(group, "one", queues[:1]).queues >> Reply(SUCCESS, queues[:1])
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, queues[1:])


@case("bk.lock.is-renewed-by-its-holder", kills=["locks-are-given-once"])
def test_is_renewed_by_its_holder(bk: BrokerSession) -> None:
    """Who has a lock gets it again."""
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)


@case("bk.lock.is-of-a-group", kills=["locks-are-of-all-groups"])
def test_is_of_a_group(bk: BrokerSession) -> None:
    """A lock is nothing to other groups."""
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.lock(bk.group(), "other", queues).queues >> Reply(SUCCESS, queues)


@case("bk.lock.is-given-up-by-its-holder", kills=["locks-are-not-given-up"])
def test_is_given_up_by_its_holder(bk: BrokerSession) -> None:
    """A lock that its holder gives up is another's."""
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.unlock(group, "one", queues[:1]) >> Reply(SUCCESS)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, queues[:1])


@case("bk.lock.is-not-given-up-by-others", kills=["anybody-gives-up-locks"])
def test_is_not_given_up_by_others(bk: BrokerSession) -> None:
    """Nobody gives up another's lock."""
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.unlock(group, "other", queues) >> Reply(SUCCESS)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [])


@case(
    "bk.lock.is-over-after-a-minute",
    kills=["locks-last-for-ever", "locks-last-for-half-a-minute"],
    clock=True,
)
def test_is_over_after_a_minute(bk: BrokerSession) -> None:
    """A lock that is not renewed lasts for a minute."""
    group, _, queues = place(bk)
    locked = bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.advance_short_of(LIVES, since=locked)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [])
    bk.advance_past(LIVES, since=locked)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, queues)


@case("bk.lock.needs-no-queue", kills=["locks-need-a-topic"])
def test_needs_no_queue(bk: BrokerSession) -> None:
    """A queue that does not exist can be locked."""
    queue = (bk.name("T"), 7)
    bk.lock(bk.group(), "one", [queue]).queues >> Reply(SUCCESS, [queue])


@case("bk.lock.of-nothing-is-an-empty-list", kills=["no-locks-are-no-answer"])
def test_of_nothing_is_an_empty_list(bk: BrokerSession) -> None:
    """Who locks nothing has nothing."""
    bk.lock(bk.group(), "one", []).queues >> Reply(SUCCESS, [])
