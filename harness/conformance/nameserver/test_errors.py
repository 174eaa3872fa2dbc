"""Chapter errors: unknown codes, requests that fail, fields that are missing or malformed.

A request that fails must not disturb other users of a shared server: a registration without broker id fails
before anything is stored, in both lines of Apache's server.
"""

from __future__ import annotations

from harness.conformance import ABSENT, AnyOf, Matching, Reply, Silence, Unchanged, case
from harness.conformance.nameserver.brokers import listed, registered, routed
from harness.conformance.shared.frames import OPAQUE, QUERY, json_frame, query_header
from harness.conformance.shared.raw import answered
from harness.session import Connection, NameServerSession
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode, Serialization

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST, NOT_SUPPORTED = ResponseCode.TOPIC_NOT_EXIST, ResponseCode.REQUEST_CODE_NOT_SUPPORTED
NO_REQUEST = (9999, RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, 36, 0)
"""Codes that no NameServer serves: an invented one, one that it sends itself, one of a Broker, and 0."""
SOME_TEXT = Matching(".")


def unserved(ns: NameServerSession) -> AnyOf | Reply:
    """The outcomes of an unknown code: a refusal, or silence as from Apache's 4.9."""
    refused = Reply(NOT_SUPPORTED)
    return refused if ns.profile.has("refused-codes") else AnyOf(refused, Silence())


def usable(connection: Connection) -> None:
    """The connection still serves requests."""
    connection.call(*QUERY) >> answered(NameServerSession)


# --- unknown codes --------------------------------------------------------------------------------------


@case(kills=["unknown-code-silent", "unknown-code-succeeds", "unknown-code-closes"])
def test_unknown_code_is_refused(ns: NameServerSession) -> None:
    connection = ns.connect()
    for code in NO_REQUEST:
        connection.call(code) >> Reply(NOT_SUPPORTED)
    usable(connection)


@case(kills=["unknown-code-without-remark"])
def test_unknown_code_remark_names_the_code(ns: NameServerSession) -> None:
    ns.call(9999) >> Reply(NOT_SUPPORTED, remark=" request type 9999 not supported")


@case(kills=["unknown-code-silent"])
def test_unknown_code_is_answered(ns: NameServerSession) -> None:
    for code in NO_REQUEST:
        ns.call(code) >> Reply(NOT_SUPPORTED)


@case(kills=["unknown-code-succeeds", "unknown-code-closes"])
def test_unknown_code_is_never_served(ns: NameServerSession) -> None:
    connection = ns.connect()
    for code in NO_REQUEST:
        connection.call(code) >> unserved(ns)
    usable(connection)


@case(kills=["negative-code-closes", "code-of-16-bits"])
def test_negative_code_is_unknown(ns: NameServerSession) -> None:
    connection = ns.connect()
    for code in (-1, -(2**31), QUERY.code - 2**16):
        connection.call(code) >> unserved(ns)
    usable(connection)


@case(kills=["unknown-oneway-answered"])
def test_unknown_oneway_is_not_answered(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(9999, flag=FLAG_ONEWAY) >> Silence()
    usable(connection)


@case(kills=["code-required"])
def test_missing_code_is_zero(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.send_raw(json_frame(query_header(code=None)), opaque=OPAQUE) >> unserved(ns)
    usable(connection)


@case(kills=["217-served-in-4.9"])
def test_code_217_changes_nothing(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    topic = ns.name("T")
    queue = f'{{"brokerName":"{broker.name}","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}}'
    body = f'{{"brokerDatas":[],"queueDatas":[{queue}]}}'.encode()
    ns.call(RequestCode.REGISTER_TOPIC_IN_NAMESRV, {"topic": topic}, body) >> unserved(ns)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["901-served-in-4.9", "904-served-in-4.9"])
def test_codes_901_and_904_are_unknown(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.member_group(broker.cluster, broker.name) >> unserved(ns)
    broker.heartbeat() >> unserved(ns)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


# --- requests that fail ---------------------------------------------------------------------------------


@case(kills=["failure-succeeds", "failure-without-remark", "failure-closes"])
def test_failure_is_code_1_with_remark(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    ns.broker().register(ext={"brokerId": None}) >> Reply(SYSTEM_ERROR, remark=SOME_TEXT)


@case(kills=["failure-with-body"])
def test_failure_has_no_payload(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    ns.broker().register(ext={"brokerId": None}) >> Reply(SYSTEM_ERROR, body=ABSENT, ext=ABSENT)


@case(kills=["failure-closes", "third-failure-unanswered"])
def test_failure_keeps_the_connection(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    broker = ns.broker()
    failing = [broker.register(ext={"brokerId": None}) for _ in range(10)]
    for exchange in failing:
        exchange >> Reply(SYSTEM_ERROR)
    usable(broker.connection)


@case(kills=["failing-registration-stored"])
def test_failed_registration_leaves_nothing(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(ext={"brokerId": None}) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [])


@case(kills=["binary-failure-unanswered"])
def test_failure_of_binary_request_is_answered(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    connection = ns.connect()
    connection.call(RequestCode.REGISTER_BROKER, serialization=Serialization.ROCKETMQ) >> Reply(
        SYSTEM_ERROR, remark=SOME_TEXT
    )
    usable(connection)


_ANSWERS = (
    ResponseCode.SUCCESS,
    ResponseCode.SYSTEM_ERROR,
    ResponseCode.SYSTEM_BUSY,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
    ResponseCode.NO_PERMISSION,
    ResponseCode.TOPIC_NOT_EXIST,
    ResponseCode.QUERY_NOT_FOUND,
    ResponseCode.GO_AWAY,
)
"""Response codes that a NameServer uses."""

# --- ext fields -----------------------------------------------------------------------------------------


@case(kills=["missing-field-closes", "failure-unanswered"])
def test_missing_fields_keep_the_connection(ns: NameServerSession) -> None:
    connection = ns.connect()
    for code in (100, 101, 102, 103, 105, 106, 205, 206, 219, 322):
        connection.call(code) >> Reply(_ANSWERS)
        usable(connection)


@case(kills=["no-ext-fields-closes"])
def test_missing_fields_of_added_permission_keep_the_connection(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(RequestCode.ADD_WRITE_PERM_OF_BROKER) >> Reply(_ANSWERS)
    usable(connection)


@case(kills=["no-ext-fields-closes"])
def test_missing_fields_of_5x_codes_keep_the_connection(ns: NameServerSession) -> None:
    connection = ns.connect()
    for code in (RequestCode.GET_BROKER_MEMBER_GROUP, RequestCode.BROKER_HEARTBEAT):
        connection.call(code) >> Reply(_ANSWERS)
        usable(connection)


@case(kills=["missing-field-closes"], own_server=True)
def test_unregistration_without_fields_keeps_the_connection(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(RequestCode.UNREGISTER_BROKER) >> Reply((SUCCESS, SYSTEM_ERROR))
    usable(connection)


@case(kills=["empty-ext-fields-refused", "no-ext-fields-closes", "route-without-ext-fields-fails"])
def test_no_ext_fields_is_empty_ext_fields(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    for code in (RequestCode.GET_KV_CONFIG, RequestCode.REGISTER_BROKER, RequestCode.GET_ROUTEINFO_BY_TOPIC):
        absent = ns.call(code) >> Reply(_ANSWERS)
        ns.call(code, {}) >> Unchanged(absent)
        null = json_frame(query_header(code, extFields="null"))
        ns.connect().send_raw(null, opaque=OPAQUE) >> Unchanged(absent)


@case(kills=["unparsable-number-is-zero", "numbers-parsed-loosely", "broker-ids-wrap"])
def test_unparsable_number_is_absent(ns: NameServerSession) -> None:
    broker = ns.broker()
    for text in ("abc", " 1", "5.0", "0x1", str(2**63), str(-(2**63) - 1), "99999999999999999999", ""):
        broker.register(ext={"brokerId": text}) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=["unparsable-crc-refused", "numbers-beyond-their-type-are-numbers"])
def test_unparsable_optional_number_is_absent(ns: NameServerSession) -> None:
    broker = ns.broker()
    for text in ("abc", str(2**31), str(-(2**31) - 1)):
        broker.register(ext={"bodyCrc32": text}) >> Reply(SUCCESS)
    routed(ns, broker)


@case(kills=["canonical-numbers-only"])
def test_signed_and_padded_numbers_are_numbers(ns: NameServerSession) -> None:
    for text in ("+7", "007"):
        broker = ns.broker(id=7)
        broker.register(ext={"brokerId": text}) >> Reply(SUCCESS)
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {7: broker.address})


@case(kills=["booleans-case-sensitive"])
def test_boolean_is_true_in_any_case(ns: NameServerSession) -> None:
    listed(ns, registered(ns))
    for text in ("true", "TRUE", "True"):
        ns.broker().register(ext={"compressed": text}) >> Reply(SYSTEM_ERROR)


@case(kills=["any-text-is-true"])
def test_any_other_boolean_is_false(ns: NameServerSession) -> None:
    for text in ("1", "yes", " true"):
        broker = ns.broker()
        broker.register(ext={"compressed": text}) >> Reply(SUCCESS)
        listed(ns, broker)


# --- bodies ---------------------------------------------------------------------------------------------


@case(kills=["empty-body-refused"])
def test_no_body_is_a_null_body(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=b"") >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["unparsable-body-succeeds", "unparsable-body-closes"])
def test_unparsable_body_is_code_1(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=b"no JSON at all") >> Reply(SYSTEM_ERROR, remark=SOME_TEXT)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    usable(broker.connection)
