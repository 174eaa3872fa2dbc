"""What administrators have a Broker ask of consumers: who is asked, what becomes of answers and silence."""

import pytest

from harness.wire import FLAG_RESPONSE, Command, RequestCode, decode, encode
from harness.wire.bodies import ConsumerStatus, MessageQueue
from harness.wire.fastjson import dumps
from harness.wire.messages import offset_id
from reference_impl.broker import build
from reference_impl.broker.outbox import Answer, Calling
from reference_impl.remoting.effects import Send

from .messages import sent

INFO = RequestCode.GET_CONSUMER_RUNNING_INFO
GATHER = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
ADMIN, CLIENT, OTHER = 1, 2, 3
STARTED = 1_000


def heartbeat(connection, version=409):
    members = {
        "clientID": f"c{connection}",
        "consumerDataSet": [{"groupName": "G", "subscriptionDataSet": []}],
        "producerDataSet": [],
    }
    return Command(RequestCode.HEART_BEAT, body=dumps(members), version=version)


def join(one, connection, version=409):
    one.broker.connected(connection, f"10.0.0.1:{40_000 + connection}", one.now)
    beat = heartbeat(connection, version)
    one.ask(beat.code, body=beat.body, connection=connection, version=version)
    one.broker.outbox.clear()


def status(offset):
    return ConsumerStatus(message_queue_table={MessageQueue("broker-a", 0, "T"): offset}).encode()


def answered(one):
    (answer,) = one.taken(Answer)
    return answer.reply


def test_members_are_asked_one_after_the_other(asked, profile):
    one = asked(profile)
    for connection in (CLIENT, OTHER):
        join(one, connection)
    assert one.ask(GATHER, {"topic": "T", "group": "G"}) is None
    (first,) = one.taken(Calling)
    assert (first.connection, first.command.code, first.within) == (CLIENT, 221, 5_000)
    assert first.command.ext == {"topic": "T", "group": "G"}
    first.done(Command(0, flag=FLAG_RESPONSE, body=status(7)), one.now)
    (second,) = one.taken(Calling)
    assert second.connection == OTHER
    second.done(None, one.now)
    found = ConsumerStatus.decode(answered(one).body)
    assert found.consumer_table == {"c2": {MessageQueue("broker-a", 0, "T"): 7}}


@pytest.mark.parametrize("body", [b"", b"{", b'{"messageQueueTable":{"x":1}}'])
def test_a_status_that_cannot_be_read_is_left_out(asked, profile, body):
    one = asked(profile)
    join(one, CLIENT)
    one.ask(GATHER, {"topic": "T", "group": "G"})
    one.taken(Calling)[0].done(Command(0, flag=FLAG_RESPONSE, body=body), one.now)
    assert ConsumerStatus.decode(answered(one).body) == ConsumerStatus()


def test_a_member_that_is_too_old_ends_the_question(asked, profile):
    one = asked(profile)
    join(one, CLIENT)
    join(one, OTHER, version=27)
    assert one.ask(GATHER, {"topic": "T", "group": "G"}) is None
    one.taken(Calling)[0].done(Command(0, flag=FLAG_RESPONSE, body=status(7)), one.now)
    refused = answered(one)
    assert (refused.code, refused.remark) == (1, "the client does not support this feature. version=27")


@pytest.mark.parametrize("ext", [{"topic": "T", "group": "none"}, {"topic": "T"}])
def test_a_status_that_no_member_can_give_is_refused(asked, profile, ext):
    one = asked(profile)
    join(one, CLIENT)
    assert one.ask(GATHER, ext).code == 1
    assert one.taken(Calling) == []


@pytest.mark.parametrize("message", [None, "", "00", "zz" * 16, offset_id("10.0.0.1:10911", 10**6)])
def test_a_missing_message_is_not_consumed(asked, profile, message):
    one = asked(profile)
    join(one, CLIENT)
    ext = {"consumerGroup": "G", "clientId": "c2"} | ({} if message is None else {"msgId": message})
    assert one.ask(RequestCode.CONSUME_MESSAGE_DIRECTLY, ext).code == 1
    assert one.taken(Calling) == []


def test_a_message_is_handed_to_a_client(asked, profile):
    one = asked(profile)
    sent(one)
    join(one, CLIENT)
    ext = {"consumerGroup": "G", "clientId": "c2", "topic": "T", "msgId": offset_id("10.0.0.1:10911", 0)}
    assert one.ask(RequestCode.CONSUME_MESSAGE_DIRECTLY, ext) is None
    (call,) = one.taken(Calling)
    assert call.command.body == one.broker.store.raw_at(0)
    flags = {"topicSysFlag": "0", "groupSysFlag": "0"} if profile == "5.3" else {}
    assert call.command.ext == ext | {"brokerName": "broker-a"} | flags


@pytest.mark.parametrize("client", [None, "c9"])
def test_only_online_members_are_asked(asked, profile, client):
    one = asked(profile)
    join(one, CLIENT)
    reply = one.ask(INFO, {"consumerGroup": "G"} | ({} if client is None else {"clientId": client}))
    assert (reply.code, reply.remark) == (1, f"The Consumer <G> <{client or 'null'}> not online")


# -- through the endpoint ------------------------------------------------------------------------------------


class _Chance:
    def below(self, n):
        return 0


class Wired:
    """A Broker with an administrator and two clients on connections."""

    def __init__(self, profile):
        self.endpoint = build(profile, chance=_Chance(), started=STARTED)
        self.endpoint.tick(STARTED)
        for connection in (ADMIN, CLIENT, OTHER):
            self.endpoint.connected(connection, f"10.0.0.1:{40_000 + connection}", STARTED)
        for connection in (CLIENT, OTHER):
            self.endpoint.received(connection, encode(heartbeat(connection)), STARTED)

    def asked(self, opaque=5):
        """What a client is asked by an administrator's question."""
        ext = {"consumerGroup": "G", "clientId": "c2"}
        effects = self.endpoint.received(ADMIN, encode(Command(INFO, opaque=opaque, ext=ext)), STARTED)
        (question,) = [decode(one.data) for one in effects if one.connection == CLIENT]
        return question

    def answers(self, question, now, connection=CLIENT):
        """What an administrator gets of the answer that comes on a connection."""
        frame = encode(Command(0, opaque=question.opaque, flag=FLAG_RESPONSE, body=b"fine", language="GO"))
        return [decode(one.data) for one in self.endpoint.received(connection, frame, now)]

    def told_by(self, now):
        """What the administrator is told until then."""
        effects = self.endpoint.tick(now)
        return [decode(one.data) for one in effects if isinstance(one, Send) and one.connection == ADMIN]


def test_an_answer_goes_to_the_administrator_once(profile):
    wired = Wired(profile)
    question = wired.asked()
    (told,) = wired.answers(question, STARTED + 9_999)
    assert (told.code, told.opaque, told.flag) == (0, 5, FLAG_RESPONSE)
    assert (told.body, told.language) == (b"fine", "GO")
    assert wired.answers(question, STARTED + 9_999) == []
    assert wired.told_by(STARTED + 10_000) == []


def test_silence_ends_with_the_time(profile):
    wired = Wired(profile)
    question = wired.asked()
    assert wired.endpoint.next_tick(STARTED) <= STARTED + 10_000
    assert wired.told_by(STARTED + 9_999) == []
    assert wired.answers(question, STARTED + 10_000) == []
    (told,) = wired.told_by(STARTED + 10_000)
    assert (told.code, told.opaque) == (207, 5)
    assert wired.answers(question, STARTED + 10_001) == []


def test_no_client_answers_for_another(profile):
    wired = Wired(profile)
    question = wired.asked()
    assert wired.answers(question, STARTED, connection=OTHER) == []
    (told,) = wired.answers(question, STARTED)
    assert told.body == b"fine"


def test_a_client_that_goes_is_waited_for(profile):
    wired = Wired(profile)
    wired.asked()
    wired.endpoint.lost(CLIENT, STARTED)
    assert wired.told_by(STARTED + 9_999) == []
    assert [told.code for told in wired.told_by(STARTED + 10_000)] == [207]


def test_questions_have_opaques_of_their_own(profile):
    wired = Wired(profile)
    first, second = wired.asked(5), wired.asked(6)
    assert [told.opaque for told in wired.answers(second, STARTED)] == [6]
    assert [told.opaque for told in wired.answers(first, STARTED)] == [5]
