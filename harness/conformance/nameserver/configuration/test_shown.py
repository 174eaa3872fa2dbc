"""Chapter configuration: what 319 shows."""

from harness.conformance import ABSENT, ANYTHING, Including, Matching, Reply, case
from harness.conformance.nameserver.configuration.values import STARTED
from harness.session import NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS

EFFECTIVE = {
    "listenPort": Matching(r"^\d+$"),
    "kvConfigPath": ANYTHING,
    "configStorePath": ANYTHING,
    "orderMessageEnable": "false",
    "serverChannelMaxIdleTimeSeconds": "120",
}

EFFECTIVE_5 = {
    "returnOrderTopicConfigToBroker": "true",
    "scanNotActiveBrokerInterval": "5000",
    "unRegisterBrokerQueueCapacity": "3000",
    "supportActingMaster": "false",
    "enableAllTopicList": "true",
    "enableTopicList": "true",
    "notifyMinBrokerIdChanged": "false",
    "needWaitForService": "false",
    "waitSecondsForService": "45",
    "deleteTopicWithBrokerRegistration": "false",
}

INERT = {
    "productEnvName": "center",
    "clusterTest": "false",
    "configBlackList": STARTED["configBlackList"],
    "serverWorkerThreads": "8",
    "serverCallbackExecutorThreads": "0",
    "serverSelectorThreads": "5",
    "serverOnewaySemaphoreValue": "256",
    "serverAsyncSemaphoreValue": "64",
    "serverSocketSndBufSize": "0",
    "serverSocketRcvBufSize": "0",
    "writeBufferHighWaterMark": "0",
    "writeBufferLowWaterMark": "0",
    "serverSocketBacklog": "1024",
    "serverPooledByteBufAllocatorEnable": "true",
    "useEpollNativeSelector": "false",
}

INERT_5 = {
    "bindAddress": ANYTHING,
    "clientRequestThreadPoolNums": "8",
    "defaultThreadPoolNums": "16",
    "clientRequestThreadPoolQueueCapacity": "50000",
    "defaultThreadPoolQueueCapacity": "10000",
    "enableControllerInNamesrv": "false",
    "serverNettyWorkerGroupEnable": "true",
    "enableShutdownGracefully": "false",
    "shutdownWaitTimeSeconds": "30",
}


@case(kills=["settings-are-not-shown"], setup=STARTED)
def test_what_it_does_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE), remark=ABSENT)


@case(kills=["settings-of-4-9-only"], setup=STARTED)
def test_what_5_does_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(EFFECTIVE_5))


@case(kills=["inert-settings-are-not-shown"], setup=STARTED)
def test_every_setting_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(INERT))


@case(kills=["inert-settings-are-not-shown"], setup=STARTED)
def test_every_setting_of_5_is_listed(ns: NameServerSession) -> None:
    ns.config().settings >> Reply(SUCCESS, Including(INERT_5))


@case(kills=["settings-are-not-sorted"], setup=STARTED)
def test_list_is_sorted(ns: NameServerSession) -> None:
    ns.config().is_sorted >> Reply(SUCCESS, True)


@case(kills=["file-is-ignored"], setup=STARTED)
def test_file_is_taken_over(ns: NameServerSession) -> None:
    ns.config().among("serverSelectorThreads") >> Reply(SUCCESS, {"serverSelectorThreads": "5"})


@case(kills=["other-keys-are-not-shown"], setup=STARTED)
def test_other_keys_of_the_file_are_kept(ns: NameServerSession) -> None:
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "as written"})
    ns.update_config("mine=changed") >> Reply(SUCCESS)
    ns.config().among("mine") >> Reply(SUCCESS, {"mine": "changed"})
    ns.update_config("mine=as written") >> Reply(SUCCESS)
