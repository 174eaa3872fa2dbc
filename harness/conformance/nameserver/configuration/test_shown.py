"""Chapter configuration: what 319 shows."""

from harness.conformance import ANYTHING, Including, Matching, Reply, case
from harness.conformance.nameserver.configuration.values import IDLE, STARTED
from harness.session import NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS

NUMBER, BOOLEAN = Matching(r"^-?\d+$"), Matching("^(true|false)$")

EFFECTIVE = {
    "listenPort": NUMBER,
    "kvConfigPath": ANYTHING,
    "configStorePath": ANYTHING,
    "orderMessageEnable": BOOLEAN,
    "serverChannelMaxIdleTimeSeconds": NUMBER,
}

EFFECTIVE_5 = {
    "returnOrderTopicConfigToBroker": BOOLEAN,
    "scanNotActiveBrokerInterval": NUMBER,
    "unRegisterBrokerQueueCapacity": NUMBER,
    "supportActingMaster": BOOLEAN,
    "enableAllTopicList": BOOLEAN,
    "enableTopicList": BOOLEAN,
    "notifyMinBrokerIdChanged": BOOLEAN,
    "needWaitForService": BOOLEAN,
    "waitSecondsForService": NUMBER,
    "deleteTopicWithBrokerRegistration": BOOLEAN,
}

INERT = {
    "productEnvName": ANYTHING,
    "clusterTest": BOOLEAN,
    "configBlackList": ANYTHING,
    "serverWorkerThreads": NUMBER,
    "serverCallbackExecutorThreads": NUMBER,
    "serverSelectorThreads": NUMBER,
    "serverOnewaySemaphoreValue": NUMBER,
    "serverAsyncSemaphoreValue": NUMBER,
    "serverSocketSndBufSize": NUMBER,
    "serverSocketRcvBufSize": NUMBER,
    "writeBufferHighWaterMark": NUMBER,
    "writeBufferLowWaterMark": NUMBER,
    "serverSocketBacklog": NUMBER,
    "serverPooledByteBufAllocatorEnable": BOOLEAN,
    "useEpollNativeSelector": BOOLEAN,
}

INERT_5 = {
    "bindAddress": ANYTHING,
    "clientRequestThreadPoolNums": NUMBER,
    "defaultThreadPoolNums": NUMBER,
    "clientRequestThreadPoolQueueCapacity": NUMBER,
    "defaultThreadPoolQueueCapacity": NUMBER,
    "enableControllerInNamesrv": BOOLEAN,
    "serverNettyWorkerGroupEnable": BOOLEAN,
    "enableShutdownGracefully": BOOLEAN,
    "shutdownWaitTimeSeconds": NUMBER,
}


@case(kills=["settings-are-not-shown"])
def test_what_it_does_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE))


@case(kills=["settings-of-4-9-only"])
def test_what_5_does_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE_5))


@case(kills=["inert-settings-are-not-shown"])
def test_every_setting_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(INERT))


@case(kills=["inert-settings-are-not-shown"])
def test_every_setting_of_5_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(INERT_5))


@case(kills=["settings-are-not-sorted"])
def test_list_is_sorted(ns: NameServerSession) -> None:
    ns.config().is_sorted >> Reply(SUCCESS, True)


@case(kills=["home-is-not-shown"], setup={"rocketmqHome": "{dir}"})
def test_home_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including({"rocketmqHome": Matching("^/")}))


@case(kills=["file-is-ignored"], setup=STARTED)
def test_file_is_taken_over(ns: NameServerSession) -> None:
    ns.config().among(IDLE) >> Reply(SUCCESS, {IDLE: STARTED[IDLE]})


@case(kills=["other-keys-are-not-shown"], setup=STARTED)
def test_other_keys_of_the_file_are_kept(ns: NameServerSession) -> None:
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "as written"})
    ns.update_config("mine=changed") >> Reply(SUCCESS)
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "changed"})
    ns.update_config("mine=as written") >> Reply(SUCCESS)
