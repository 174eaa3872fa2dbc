"""Chapter acl: who a request comes from."""

import msgspec

from harness.conformance import Reply, Silence, case
from harness.conformance.broker.acl.guarded import (
    ADMIN,
    BOTH,
    GERMAN,
    NOTHING,
    ON,
    REFUSED,
    SENDER,
    SUCCESS,
    made,
    then,
    with_fields,
)
from harness.conformance.matchers import Containing
from harness.session import BrokerSession
from harness.session.broker.signing import Account
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode, Serialization
from harness.wire.messages import PropertyName


@case(kills=["unsigned-requests-are-served", "requests-without-fields-are-served"], setup=ON)
def test_unsigned_request_is_refused(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.send(topic) >> REFUSED
    bk.max_offset(topic) >> REFUSED
    bk.topics() >> REFUSED
    bk.call(RequestCode.GET_BROKER_CONFIG, {}) >> REFUSED
    bk.sign_as(BOTH)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 0)


@case(kills=["signatures-are-in-hex", "signatures-are-not-of-the-body"], setup=ON)
def test_signed_request_is_served(bk: BrokerSession) -> None:
    topic, body = bk.name("T"), "größer: ".encode() + b"x" * 70_000
    bk.sign_as(BOTH)
    bk.send(topic, body, keys="Schlüssel") >> Reply(SUCCESS)
    bk.send(topic, b"old", code=10) >> Reply(SUCCESS)
    bk.send(topic, b"binary", keys="K", serialization=Serialization.ROCKETMQ) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [body, b"old", b"binary"])


@case(kills=["fields-are-signed-as-they-come"], setup=ON)
def test_order_of_fields_does_not_matter(bk: BrokerSession) -> None:
    topic = bk.name("T")

    def turned(command: Command) -> Command:
        ext = dict(reversed((command.ext or {}).items()))
        return msgspec.structs.replace(command, ext=ext)

    bk.sign_as(SENDER)
    bk.send(topic, tags="z", ext={"zz": "1", "A": "2"}) >> Reply(SUCCESS)
    bk.hook = then(SENDER, turned)
    bk.send(topic, tags="z", ext={"zz": "1", "A": "2"}) >> Reply(SUCCESS)


@case(kills=["some-fields-are-not-signed", "signatures-are-not-checked"], setup=ON)
def test_every_field_is_signed(bk: BrokerSession) -> None:
    topic, other = made(bk), made(bk)
    with_token = msgspec.structs.replace(SENDER, token="of a session")
    bk.sign_as(with_token)
    bk.send(topic) >> Reply(SUCCESS)
    for changed in ({"b": other}, {"e": "1"}, {"of-nothing": "1"}, {"SecurityToken": "of another"}):
        bk.hook = then(with_token, with_fields(**changed))
        bk.send(topic) >> REFUSED
    bk.sign_as(ADMIN)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.max_offset(other).offset >> Reply(SUCCESS, 0)


@case(kills=["signatures-are-not-of-the-body"], setup=ON)
def test_body_is_signed(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(SENDER)
    bk.send(topic, b"mine") >> Reply(SUCCESS)
    bk.hook = then(SENDER, lambda command: msgspec.structs.replace(command, body=b"ours"))
    bk.send(topic, b"mine") >> REFUSED


@case(kills=["any-access-key-will-do", "beginnings-of-access-keys-will-do"], setup=ON)
def test_unknown_access_key_is_refused(bk: BrokerSession) -> None:
    topic = made(bk)
    key = SENDER.access_key
    for other in (key.upper(), key[:-1], key[1:], f"{key}s"):
        bk.sign_as(Account(other, SENDER.secret_key))
        bk.send(topic) >> REFUSED
    bk.sign_as(SENDER)
    bk.send(topic) >> Reply(SUCCESS)


@case(kills=["signatures-are-not-checked", "missing-signatures-are-right"], setup=ON)
def test_wrong_signature_is_refused(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(Account(SENDER.access_key, NOTHING.secret_key))
    bk.send(topic) >> REFUSED
    bk.sign_as(None)
    bk.send(topic, ext={"AccessKey": SENDER.access_key}) >> REFUSED
    bk.send(topic, ext={"AccessKey": SENDER.access_key, "Signature": ""}) >> REFUSED
    bk.sign_as(SENDER)
    bk.send(topic) >> Reply(SUCCESS)


@case(kills=["keys-are-ascii"], setup=ON)
def test_keys_may_be_beyond_ascii(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(Account(GERMAN.access_key, SENDER.secret_key))
    bk.send(topic) >> REFUSED
    bk.sign_as(GERMAN)
    bk.send(topic) >> Reply(SUCCESS)


@case(kills=["the-mark-of-unique-keys-is-signed"], setup=ON)
def test_mark_of_unique_keys_is_not_signed(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.sign_as(BOTH)
    bk.send(topic, b"one", properties={PropertyName.UNIQ_KEY: "K-1"}) >> Reply(SUCCESS)
    bk.hook = then(BOTH, with_fields(_UNIQUE_KEY_QUERY="true"))
    bk.find(topic, "K-1").bodies.eventually() >> Reply(SUCCESS, [b"one"])


@case(kills=["refused-requests-without-an-answer-are-served"], setup=ON)
def test_refused_one_way_request_does_nothing(bk: BrokerSession) -> None:
    topic = made(bk)
    bk.send(topic, b"unsigned", flag=FLAG_ONEWAY) >> Silence()
    bk.sign_as(NOTHING)
    bk.send(topic, b"not allowed", flag=FLAG_ONEWAY) >> Silence()
    bk.sign_as(BOTH)
    bk.send(topic, b"allowed", flag=FLAG_ONEWAY) >> Silence()
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"allowed"])


@case(kills=["refusals-give-no-reason"], setup=ON)
def test_refusal_says_why(bk: BrokerSession) -> None:
    topic = made(bk)

    def refused(why: str) -> Reply:
        return Reply(ResponseCode.SYSTEM_ERROR, remark=Containing(why))

    bk.send(topic) >> refused("No accessKey is configured")
    bk.sign_as(Account("no-such-account", "no-such-secret"))
    bk.send(topic) >> refused("No acl config for no-such-account")
    bk.sign_as(Account(SENDER.access_key, "another-secret"))
    bk.send(topic) >> refused(f"Check signature failed for accessKey={SENDER.access_key}")
    bk.sign_as(NOTHING)
    bk.send(topic) >> refused(f"No default permission for topic:{topic}")
    bk.create_topic(topic) >> refused(
        f"Need admin permission for request code=17, but accessKey={NOTHING.access_key} is not"
    )


@case(kills=["signatures-need-access-control"])
def test_fields_of_accounts_are_ignored(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.sign_as(msgspec.structs.replace(SENDER, token="of a session"))
    bk.send(topic, b"signed") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"signed"])
    bk.hook = with_fields(AccessKey="", Signature="none")
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)


@case(kills=["access-control-is-of-every-line"], setup={"aclEnable": "true"})
def test_setting_protects_nothing(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic, b"unsigned") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"unsigned"])


@case(kills=["accounts-are-known-to-every-line"])
def test_changes_of_accounts_are_unknown(bk: BrokerSession) -> None:
    for code in range(50, 55):
        ext = {"accessKey": "some-key", "secretKey": "some-secret", "globalWhiteAddrs": "127.0.0.1"}
        bk.call(code, ext) >> Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
