"""Chapter administration: limits of cold reads, and services that a Broker may lack."""

from harness.conformance import ABSENT, ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.tools import ERROR, SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import SyncStateSet
from harness.wire.fastjson import document

COLD = RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG


def limits(bk: BrokerSession) -> Exchange:
    """GET_COLD_DATA_FLOW_CTR_INFO (2003)."""
    return asked(bk, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)


def switched(bk: BrokerSession, **ext: str) -> Exchange:
    """SWITCH_TIMER_ENGINE (5001)."""
    return bk.call(RequestCode.SWITCH_TIMER_ENGINE, ext or None)


@case(kills=["timers-move-to-rocksdb", "timers-cannot-stay-in-files"], own_server=True)
def test_timers_stay_in_files(bk: BrokerSession) -> None:
    switched(bk, E_T="F") >> Reply(SUCCESS, remark="switch timer engine success")
    absent = "timerRocksDBEnable must be configured true when broker start"
    switched(bk, E_T="R") >> Reply(ResponseCode.INVALID_PARAMETER, remark=absent)
    for ext in ({"E_T": "x"}, {"engine": "F"}):
        switched(bk, **ext) >> Reply(ResponseCode.INVALID_PARAMETER, remark="param error")
    none = Reply(ResponseCode.INVALID_PARAMETER, remark="param error, extFields is null")
    switched(bk) >> none


@case(
    kills=[
        "limits-are-kept-once",
        "limits-stay",
        "limits-of-any-word",
        "words-end-limits",
        "limits-without-what-is-read",
    ]
)
def test_limits_of_cold_reads_are_kept(bk: BrokerSession) -> None:
    one, two, three = (bk.group(hint) for hint in ("one", "two", "three"))
    said = f"{one}=5000000000\n" + "\n" * 70_000 + f"{two}=7\n{three}=many\n"
    bk.call(COLD, None, said.encode()) >> Reply(SUCCESS)
    defaults = {
        "cgColdReadThreshold": 3_145_728,
        "globalAcc": Between(0, 2**40),
        "globalColdReadThreshold": 104_857_600,
        "runtimeTable": ANYTHING,
    }
    table = Including({one: 5_000_000_000, two: 7, three: ABSENT})
    limits(bk) >> Reply(SUCCESS, Including({**defaults, "configTable": table}))
    bk.call(COLD, None, f"{one}=many\n{two}=8\n".encode()) >> Reply(SUCCESS)
    limits(bk) >> Reply(SUCCESS, Including({"configTable": Including({one: 5_000_000_000, two: 8})}))
    for group in (one, three):
        bk.call(RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, None, group.encode()) >> Reply(SUCCESS)
    limits(bk) >> Reply(SUCCESS, Including({"configTable": Including({one: ABSENT, two: 8})}))


@case(kills=["broken-limits-are-taken"])
def test_limits_that_cannot_be_read_are_refused(bk: BrokerSession) -> None:
    group = bk.group()
    refused = Reply(ERROR, remark="string2Properties error")
    bk.call(COLD, None, f"{group}=7\nname=\\u12xy".encode()) >> refused
    limits(bk) >> Reply(SUCCESS, Including({"configTable": Including({group: ABSENT})}))


def read_mode(bk: BrokerSession, **ext: str) -> Exchange:
    """SET_COMMITLOG_READ_MODE (2004)."""
    return bk.call(RequestCode.SET_COMMITLOG_READ_MODE, ext or None)


@case(kills=["read-mode-is-not-shown"], own_server=True)
def test_read_mode_is_set(bk: BrokerSession) -> None:
    for mode, shown in (("1", "false"), ("0", "true")):
        remark = f"set commitlog readahead mode success, mode: {mode}"
        read_mode(bk, READ_AHEAD_MODE=mode) >> Reply(SUCCESS, remark=remark)
        bk.config().among("dataReadAheadEnable") >> Reply(SUCCESS, {"dataReadAheadEnable": shown})


@case(kills=["any-read-mode-is-taken"])
def test_read_mode_that_is_none_is_refused(bk: BrokerSession) -> None:
    wrong = Reply(ResponseCode.INVALID_PARAMETER, remark="set commitlog readahead mode param value error")
    read_mode(bk, READ_AHEAD_MODE="2") >> wrong
    failed = Reply(ERROR, remark="set commitlog readahead mode failed")
    read_mode(bk, READ_AHEAD_MODE="x") >> failed
    read_mode(bk, mode="1") >> failed
    read_mode(bk) >> Reply(ERROR, remark="set commitlog readahead mode param error")


@case(kills=["queues-in-rocksdb-are-equal", "export-is-refused", "pops-stay-in-rocksdb"])
def test_requests_about_rocksdb_succeed(bk: BrokerSession) -> None:
    progress = asked(bk, RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, topic=bk.topic(), checkStoreTime="1")
    progress >> Reply(SUCCESS, {"checkStatus": 2})
    for tables in ("topics;subscriptionGroups", "consumerOffsets"):
        exported = bk.call(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, {"configType": tables})
        exported >> Reply(SUCCESS, remark="export done.")
    bk.call(RequestCode.POP_ROLLBACK) >> Reply(SUCCESS)


@case(kills=["any-table-is-exported"])
def test_export_of_an_unknown_table_is_refused(bk: BrokerSession) -> None:
    for ext in ({"configType": "topics;users"}, None):
        exported = bk.call(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, ext)
        exported >> Reply(ERROR, remark=Matching("."))
    bk.call(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, {"configType": "topics"}) >> Reply(SUCCESS)


@case(kills=["epochs-without-a-controller", "roles-change-without-a-controller"], own_server=True)
def test_epochs_need_a_controller(bk: BrokerSession) -> None:
    refused = Reply(ERROR, remark="this request only for controllerMode ")
    bk.call(RequestCode.GET_BROKER_EPOCH_CACHE) >> refused
    master = {"masterAddress": "10.0.0.9:10911", "masterEpoch": "3", "masterBrokerId": "2"}
    in_sync = SyncStateSet([2, 3], 4).encode()
    changed = bk.call(RequestCode.NOTIFY_BROKER_ROLE_CHANGED, {**master, "syncStateSetEpoch": "4"}, in_sync)
    changed >> Reply(SUCCESS)
    bk.send(bk.topic()) >> Reply(SUCCESS)


USER = document({"password": "secret", "userType": "Normal", "username": "ana"})
RIGHT = {"actions": ["Pub"], "decision": "Allow", "resource": "Topic:T"}
RIGHTS = document({"policies": [{"entries": [RIGHT], "policyType": "Custom"}], "subject": "User:ana"})


@case(kills=["users-are-made", "rights-are-shown"])
def test_users_are_refused_without_a_provider(bk: BrokerSession) -> None:
    refused = Reply(ERROR, remark="An system error occurred, please try again later.")
    blank = Reply(ResponseCode.NO_PERMISSION, remark="username can not be blank")
    user, subject = {"username": "ana"}, {"subject": "User:ana"}
    for code in (RequestCode.AUTH_CREATE_USER, RequestCode.AUTH_UPDATE_USER):
        bk.call(code, user, USER) >> refused
        bk.call(code, {"username": "  "}, USER) >> blank
    for code in (RequestCode.AUTH_DELETE_USER, RequestCode.AUTH_GET_USER, RequestCode.AUTH_LIST_USER):
        bk.call(code, user) >> refused
    for code in (RequestCode.AUTH_CREATE_ACL, RequestCode.AUTH_UPDATE_ACL):
        bk.call(code, subject, RIGHTS) >> refused
    bk.call(RequestCode.AUTH_DELETE_ACL, subject) >> refused
    shown = bk.call(RequestCode.AUTH_GET_ACL, subject)
    shown >> Reply(ERROR, remark=Matching("MetadataProvider is not configured|system error occurred"))
    listed = bk.call(RequestCode.AUTH_LIST_ACL, subject)
    listed >> Reply(ERROR, remark=Matching("MetadataProvider is not configured"))


@case(kills=["missing-rights-are-missing-users"])
def test_missing_provider_of_rights_is_named(bk: BrokerSession) -> None:
    refused = bk.call(RequestCode.AUTH_LIST_ACL)
    refused >> Reply(ERROR, remark=Matching("The authorizationMetadataProvider is not configured"))


@case(kills=["rights-need-no-policies", "rights-need-no-body"])
def test_rights_need_policies(bk: BrokerSession) -> None:
    for code in (RequestCode.AUTH_CREATE_ACL, RequestCode.AUTH_UPDATE_ACL):
        for body in (b"", b"null", b"{}", document({"policies": [], "subject": "User:ana"})):
            refused = bk.call(code, {"subject": "User:ana"}, body)
            refused >> Reply(ERROR, remark=Matching("The body of acl is null"))


@case(kills=["users-need-no-name", "deletions-need-no-name"])
def test_users_need_a_name(bk: BrokerSession) -> None:
    blank = Reply(ResponseCode.INVALID_PARAMETER, remark="The username is blank")
    for code in (RequestCode.AUTH_CREATE_USER, RequestCode.AUTH_UPDATE_USER, RequestCode.AUTH_GET_USER):
        bk.call(code) >> blank
    no_permission = ResponseCode.NO_PERMISSION
    bk.call(RequestCode.AUTH_DELETE_USER) >> Reply(no_permission, remark="username can not be blank")
    bk.call(RequestCode.AUTH_DELETE_ACL) >> Reply(no_permission, remark="The subject is null.")
