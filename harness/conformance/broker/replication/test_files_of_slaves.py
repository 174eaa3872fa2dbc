"""Chapter replication: the files in which a slave keeps what it was pushed."""

from harness.conformance import Pushed, Reply, case
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.replication.following import (
    LARGE,
    SMALL_FILES,
    TOLD_WITHIN,
    TOPIC,
    followed,
    fourth,
    started,
)
from harness.conformance.broker.replication.logs import FILE, SUCCESS
from harness.conformance.broker.role.changing import MASTER
from harness.session import BrokerSession


def fills_its_file(bk: BrokerSession) -> None:
    """The slave becomes a master: two more messages are in its second file, and the next one in a third."""
    bk.update_config(MASTER) >> Reply(SUCCESS)
    for number in (4, 5, 6):
        bk.send(TOPIC, LARGE).offset >> Reply(SUCCESS, number)
    for number, place in ((3, FILE), (6, 2 * FILE)):
        pull = bk.pull(TOPIC, 0, number, most=1).seen("place", lambda one: one.physical_offset)
        pull.eventually() >> Reply(SUCCESS, [place])


@case(
    kills=["slaves-have-one-file", "restarts-forget-the-file"],
    clock=True,
    own_server=True,
    setup=SMALL_FILES,
)
def test_files_of_a_slave_begin_at_multiples(bk: BrokerSession) -> None:
    master = followed(bk)
    message = fourth(bk, master)
    master.push(FILE, message + message[:30])
    end = FILE + len(message)
    master.report(end + 30).offset >> Pushed(end + 30)
    bk.restart("kill")
    master.next_connection()
    master.next_report(within=TOLD_WITHIN).offset >> Pushed(end)
    fills_its_file(bk)


@case(kills=["slave-stops-at-a-blank"], clock=True, own_server=True, setup=SMALL_FILES)
def test_slave_goes_on_in_the_next_file(bk: BrokerSession) -> None:
    master = followed(bk)
    message = fourth(bk, master)
    master.push(FILE, message)
    master.report(FILE + len(message)).offset >> Pushed(FILE + len(message))
    bk.pull(TOPIC, offset=3).bodies.eventually() >> Reply(SUCCESS, [LARGE])


KEEPS_AN_HOUR = {**SMALL_FILES, **EXPIRING, "fileReservedTime": "1"}


def has_three_until_they_expire(bk: BrokerSession) -> None:
    """The first file of the log stays, until the settings keep nothing."""
    bk.advance(60 + 10 + 10 + bk.jitter)
    bk.min_offset(TOPIC).offset >> Reply(SUCCESS, 0)
    bk.pull(TOPIC, most=1).bodies.eventually() >> Reply(SUCCESS, [LARGE])
    bk.update_config({"fileReservedTime": "0"}) >> Reply(SUCCESS)
    bk.advance(10 + 10 + bk.jitter)
    bk.min_offset(TOPIC).offset.eventually() >> Reply(SUCCESS, 3)


@case(
    kills=["pushed-files-are-as-old-as-messages", "slave-deletes-no-files"],
    clock=True,
    own_server=True,
    setup=KEEPS_AN_HOUR,
)
def test_slave_keeps_old_messages_that_are_new_to_it(bk: BrokerSession) -> None:
    master = followed(bk)
    message = fourth(bk, master)
    master.push(FILE, message)
    master.report(FILE + len(message)).offset >> Pushed(FILE + len(message))
    has_three_until_they_expire(bk)


@case(
    kills=["files-are-as-old-as-their-first-message", "slave-deletes-no-files"],
    clock=True,
    own_server=True,
    setup=KEEPS_AN_HOUR,
)
def test_slave_keeps_files_with_a_young_message(bk: BrokerSession) -> None:
    master = followed(bk)
    message = fourth(bk, master, started(bk))
    master.push(FILE, message)
    master.report(FILE + len(message)).offset >> Pushed(FILE + len(message))
    bk.restart()
    has_three_until_they_expire(bk)
