"""What administration and recall are refused where no case of the catalogue comes: reading is forbidden, the
Broker is a slave, or its store takes no message.
"""

from base64 import urlsafe_b64encode

from harness.wire import RequestCode, ResponseCode

from .driver import STARTED
from .messages import sent

PEEK = {"consumerGroup": "G", "topic": "T", "queueId": 0, "maxMsgNums": 1}
SOON = STARTED + 60_000
HANDLE = urlsafe_b64encode(f"v1 T broker-a {SOON} key".encode()).decode()
RECALL = {"topic": "T", "recallHandle": HANDLE, "producerGroup": "PG"}
HALF = {"TRAN_MSG": "true", "PGROUP": "PG", "UNIQ_KEY": "U"}


def test_a_broker_that_may_not_be_read_shows_no_messages(asked):
    one = asked("5.3", brokerPermission=2)
    reply = one.ask(RequestCode.PEEK_MESSAGE, PEEK)
    assert (reply.code, reply.remark) == (
        ResponseCode.NO_PERMISSION,
        "the broker[127.0.0.1] peeking message is forbidden",
    )


def test_a_look_behind_an_offset_that_is_far_too_great_goes_on_at_the_end(asked):
    one = asked("5.3")
    sent(one)
    one.broker.offsets.commit("G", "T", 0, 9, one.now)
    reply = one.ask(RequestCode.PEEK_MESSAGE, PEEK)
    assert (reply.code, reply.body) == (ResponseCode.PULL_NOT_FOUND, b"")


def test_a_slave_recalls_nothing(asked):
    one = asked("5.3", recallMessageEnable=True, brokerRole="SLAVE", brokerId=1)
    assert one.ask(RequestCode.RECALL_MESSAGE, RECALL).code == ResponseCode.SLAVE_NOT_AVAILABLE


def test_a_recall_that_cannot_be_stored_is_refused(asked):
    one = asked("5.3", recallMessageEnable=True, brokerName="broker-a")
    sent(one)
    assert one.ask(RequestCode.RECALL_MESSAGE, RECALL).code == ResponseCode.SUCCESS
    one.broker.store.max_message_size = 0
    reply = one.ask(RequestCode.RECALL_MESSAGE, RECALL)
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, "recall failed, execute error")


def test_the_checks_of_a_message_that_cannot_be_stored_again_are_not_resumed(asked, profile):
    one = asked(profile)
    half = sent(one, flags=4, properties=HALF)
    question = {"msgId": half.ext["msgId"], "topic": "T"}
    assert one.ask(RequestCode.RESUME_CHECK_HALF_MESSAGE, question).code == ResponseCode.SUCCESS
    one.broker.store.max_message_size = 0
    assert one.ask(RequestCode.RESUME_CHECK_HALF_MESSAGE, question).code == ResponseCode.SYSTEM_ERROR


def test_a_group_that_may_do_everything_again_is_forgotten(asked):
    groups = asked("5.3").broker.groups
    groups.forbid("G", "T", 1, forbidden=True, now=STARTED)
    groups.forbid("G", "U", 1, forbidden=True, now=STARTED)
    groups.forbid("G", "T", 1, forbidden=False, now=STARTED)
    assert groups.forbidden == {"G": {"U": 1}}
    groups.forbid("G", "U", 1, forbidden=False, now=STARTED)
    assert groups.forbidden == {}


def test_rights_without_a_body_are_refused(asked):
    reply = asked("5.3").ask(RequestCode.AUTH_CREATE_ACL, {"subject": "User:u"})
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, "The body of acl is null")


def test_light_subscriptions_that_cannot_be_read_are_refused(asked):
    reply = asked("5.5").ask(RequestCode.LITE_SUBSCRIPTION_CTL, {}, b"{")
    assert reply.code == ResponseCode.SYSTEM_ERROR
    assert reply.remark.startswith("the body cannot be read: ")


def test_a_part_of_a_table_of_a_version_that_cannot_be_read_is_refused(asked):
    part = {"topicSeq": 1, "maxTopicNum": 1, "dataVersion": "{"}
    reply = asked("5.5").ask(RequestCode.GET_ALL_TOPIC_CONFIG, part)
    assert reply.code == ResponseCode.SYSTEM_ERROR
    assert reply.remark.startswith("dataVersion cannot be read: ")
