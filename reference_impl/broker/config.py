"""Settings of the reference Broker, under the names that Apache's `broker.conf` uses.

1. A setting is here if it does something; any other key of a file is kept in `file` and is never an error.
2. A value of the wrong kind is refused at the start with key, value and what was expected.
3. Defaults and units are Apache's. What differs between the lines and is not set has the default None, and a
   property gives the value in force.

Source: BrokerConfig, MessageStoreConfig, NettyServerConfig, BrokerStartup of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

import ipaddress
import re
from typing import ClassVar, Final

import msgspec

from reference_impl.remoting.config import ServerConfig
from reference_impl.remoting.errors import ConfigError

from .store import StoreConfig


class Config(ServerConfig, frozen=True, kw_only=True, rename="camel"):
    """Effective settings."""

    LONG = frozenset(
        {
            "brokerId",
            "brokerNotActiveTimeoutMillis",
            "maxPopPollingSize",
            "channelExpiredTimeout",
            "forwardTimeout",
            "disappearTimeAfterStart",
            "shortPollingTimeMills",
            "startAcceptSendRequestTimeStamp",
            "filterDataCleanTimeSpan",
            "inMemoryLogBytes",
            "maxLiteSubscriptionCount",
            "minLiteTTl",
            "liteTtlCheckInterval",
        }
    )
    AT_LEAST: ClassVar = {
        "brokerId": 0,
        "listenPort": 0,
        "haListenPort": 0,
        "defaultTopicQueueNums": 1,
        "maxMessageSize": 1,
        "flushConsumerOffsetInterval": 1,
        "registerBrokerTimeoutMills": 0,
        "splitRegistrationSize": 1,
        "reviveQueueNum": 1,
        "brokerHeartbeatInterval": 1,
        "syncBrokerMemberGroupPeriod": 1,
        "cleanResourceInterval": 1,
        "flushIntervalCommitLog": 0,
        "mappedFileSizeCommitLog": 1,
        "haSendHeartbeatInterval": 1,
        "haHousekeepingInterval": 1,
        "haTransferBatchSize": 1,
        "slaveTimeout": 0,
        "inMemoryLogBytes": 1,
        "liteTtlCheckInterval": 1,
    }

    broker_name: str = "broker-a"
    """(Apache: the name of the host.)"""
    broker_cluster_name: str = "DefaultCluster"
    broker_id: int = 0
    """0: the master of its name."""
    broker_role: str = "ASYNC_MASTER"
    """ASYNC_MASTER, SYNC_MASTER or SLAVE."""
    namesrv_addr: str = ""
    """Addresses of NameServers, "host:port", between semicolons."""
    listen_port: int = 10911
    """TCP port; two below it, the same is served for clients that use the VIP port."""
    bind_address: str = "127.0.0.1"
    """Address to listen on. (Apache: `0.0.0.0`; a server for tests does not offer itself to the network.)"""
    broker_ip1: str = msgspec.field(default="127.0.0.1", name="brokerIP1")
    """Address that is registered for clients. (Apache: the address of the first interface.)"""
    broker_ip2: str = msgspec.field(default="127.0.0.1", name="brokerIP2")
    """Address that is registered for slaves."""
    ha_listen_port: int = 0
    """Port that is registered for slaves; 0: one above `listenPort`."""
    ha_master_address: str = ""
    """Where a slave copies the log from, "ip:port"; empty: where NameServers say. (Apache 5.3.3 with this
    setting connects nowhere: it looks at it before it has made what connects.)"""
    ha_send_heartbeat_interval: int = 5000
    """ms without a push, or without a report, after which there is an empty one."""
    ha_housekeeping_interval: int = 20000
    """ms after which a slave or a master that says nothing is disconnected."""
    ha_transfer_batch_size: int = 32768
    """Bytes of the log in one push to a slave."""
    ha_slave_fallbehind_max: int = 268435456
    """Bytes. 4.9, SYNC_MASTER: no send waits for a slave that is further behind."""
    ha_max_gap_not_in_sync: int = 268435456
    """Bytes. 5.3: a slave that is further behind is not in step."""
    in_sync_replicas: int = 1
    """5.3, SYNC_MASTER: how many Brokers, this one included, have a message before its send is answered."""
    slave_timeout: int = 3000
    """SYNC_MASTER: for how long a send waits for slaves, ms."""
    rocketmq_home: str = ""
    """Directory with `conf/plain_acl.yml` and `conf/acl`, where `aclEnable` is true."""
    acl_enable: bool = False
    """4.9: whether requests need an account. (5.3 knows the key and does nothing with it.)"""
    authentication_enabled: bool = False
    """5.3: whether requests need the signature of a user."""
    authentication_metadata_provider: str = ""
    """5.3: the class that keeps users; empty: there are none. (Any name does; `users` is what keeps them.)"""
    authorization_enabled: bool = False
    """5.3: whether requests need rights of the user whom they name."""
    authorization_metadata_provider: str = ""
    """5.3: the class that keeps rights; empty: there are none. (Any name does, as of that of users.)"""
    init_authentication_user: str = ""
    """5.3: the first user, in JSON: `username` and `password`."""
    store_path_root_dir: str = ""
    """Directory of everything that is stored. Empty: in memory only. (Apache: `<user.home>/store`.)"""
    register_name_server_period: int = 30000
    """ms from one registration to the next; at least 10 000, at most 60 000."""
    register_broker_timeout_mills: int = 0
    """ms that a NameServer has to answer a registration; 0: 6000 in 4.9, 24 000 in 5.3."""
    force_register: bool = True
    """Whether to register without asking first if anything has changed."""
    compressed_register: bool = False
    use_server_side_reset_offset: bool = True
    """5.3: whether the Broker itself sets offsets anew, or tells the members of the group to."""
    enable_split_registration: bool = False
    """5.3: register topics in chunks of `splitRegistrationSize`."""
    split_registration_size: int = 800
    enable_single_topic_register: bool = False
    """5.3: make a changed topic known by code 217."""
    disappear_time_after_start: int = -1
    """5.3: ms after the start in which no registration is repeated."""
    enable_slave_acting_master: bool = False
    """5.3: whether the smallest slave stands in for a master that is gone."""
    broker_heartbeat_interval: int = 1000
    """5.3: ms between two light heartbeats, where slaves may act."""
    broker_not_active_timeout_millis: int = 10000
    """5.3: the lease that is asked for, where slaves may act."""
    compatible_with_old_name_srv: bool = True
    """5.3: whether only requests are used that NameServers of 4.9 know."""
    sync_broker_member_group_period: int = 1000
    """5.3: ms between two questions for the members of the name, where slaves may act."""
    total_replicas: int = 1
    """5.3: how many Brokers of this name there are to be; above 1, each begins isolated where slaves act."""
    skip_pre_online: bool = False
    """5.3: whether to be online at once."""
    flush_disk_type: str = "ASYNC_FLUSH"
    """SYNC_FLUSH: what is answered is on the disk. ASYNC_FLUSH: it is there soon after; until then it
    survives the end of the process, not that of the machine."""
    flush_interval_commit_log: int = 500
    """ASYNC_FLUSH: ms until what was stored is on the disk."""
    mapped_file_size_commit_log: int = 1073741824
    """Bytes from which on a new file of the log is begun."""
    server_channel_max_idle_time_seconds: int = 120
    """For how long a connection may go without a whole frame before it is closed; 0 or less: for ever."""

    enable_shutdown_gracefully: bool = False
    """5.3: go on for a while when asked to stop, and send newer clients away (code 1500)."""
    shutdown_wait_time_seconds: int = 30
    """5.3: for how long; see `enableShutdownGracefully`."""

    broker_permission: int = 6
    """Bits: 4 read, 2 write."""
    default_topic_queue_nums: int = 8
    auto_create_topic_enable: bool = True
    cluster_topic_enable: bool = True
    broker_topic_enable: bool = True
    auto_create_subscription_group: bool = True
    trace_topic_enable: bool = False
    msg_trace_topic_name: str = "RMQ_SYS_TRACE_TOPIC"
    trace_on: bool = True
    region_id: str = "DefaultRegion"
    revive_queue_num: int = 8
    """5.3: queues of the topic that keeps POP's check points."""
    timer_wheel_enable: bool = True
    """5.3: whether there are messages with an arbitrary delay, and POP."""
    enable_retry_topic_v2: bool = False
    """5.3: whether popped messages come again in `%RETRY%group+topic`, not in `%RETRY%group_topic`."""
    retrieve_message_from_pop_retry_topic_v1: bool = True
    """5.3: whether the older of these topics is popped from too."""
    pop_from_retry_probability: int = 20
    """5.3: how many of a hundred pops look first for messages that come again."""
    pop_response_return_actual_retry_topic: bool = False
    """5.3: whether a message that comes again has the topic in which it does."""
    init_pop_offset_by_check_msg_in_mem: bool = True
    """5.3: whether a group that begins at the end of a queue gets all of it, as long as its first message is
    there. (Apache: as long as that is in memory.)"""
    pop_polling_size: int = 1024
    """5.3: more pops than this may not wait for one queue."""
    max_pop_polling_size: int = 100000
    """5.3: how many pops may wait."""
    default_message_request_mode: str = "PULL"
    """5.3: how groups consume that let the Broker say it: PULL or POP."""
    default_pop_share_queue_num: int = -1
    """5.3: with how many others a client that pops shares its queues; 0 or less: all with all."""
    server_load_balancer_enable: bool = True
    """5.3: whether the Broker gives clients that ask it a part of the queues, or all."""

    enable_property_filter: bool = False
    """Whether pulls may filter by SQL92."""
    filter_support_retry: bool = False
    """Whether messages that come again are filtered by SQL92 as in the topic that they were sent to."""
    enable_calc_filter_bit_map: bool = False
    """Apache evaluates filters when messages are stored then; here it does nothing."""
    filter_data_clean_time_span: int = 86400000
    """ms that the filter of a group is kept after the group has left."""
    enable_lmq: bool = False
    enable_multi_dispatch: bool = False
    """5.5, both: whether messages go to the light topics that they name."""
    max_lite_subscription_count: int = 100000
    """5.5: how many subscriptions of clients to light topics there may be."""
    min_lite_ttl: int = msgspec.field(default=900_000, name="minLiteTTl")
    """5.5: ms for which a light topic is kept at least, and after a start no light topic goes."""
    lite_ttl_check_interval: int = 120_000
    """5.5: ms between two looks for light topics that go."""
    long_polling_enable: bool = True
    short_polling_time_mills: int = 1000
    """For how long a pull is held without long polling, ms."""
    slave_read_enable: bool = False
    forward_timeout: int = 3_000
    """5.x: how long another Broker is waited for, ms, that has a part of a mapped queue."""
    lite_pull_message_enable: bool = True
    """5.3: whether code 361 is served."""
    notify_consumer_ids_changed_enable: bool = True
    reject_transaction_message: bool = False
    start_accept_send_request_time_stamp: int = 0
    """Sends are refused before this time, ms since the epoch."""
    send_thread_pool_queue_capacity: int = 10000
    """How many sends may wait for their answer."""
    pull_thread_pool_queue_capacity: int = 100000
    """How many pulls may be held."""
    max_message_size: int = 4194304
    """Bytes of a body."""
    channel_expired_timeout: int = 120000
    """5.3: for how long a client may go without a heartbeat, ms (4.9: fixed)."""
    flush_consumer_offset_interval: int = 5000
    """ms between two times that consumer offsets are written."""
    offset_check_in_slave: bool = False
    enable_create_sys_group: bool = True

    message_delay_level: str = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
    """The delay of level 1, 2, …: a number and one of s, m, h, d. What was stored keeps its level."""
    flush_delay_offset_interval: int = 10000
    """ms between two times that it is written how far delayed messages were delivered."""
    timer_max_delay_sec: int = 259200
    """5.3: the longest time that a message may ask for, s."""
    timer_precision_ms: int = 1000
    recall_message_enable: bool = False
    """5.3: whether a sender may call back a message that waits for a time."""
    allow_recall_when_broker_not_writeable: bool = True
    append_topic_for_timer_delete_key: bool = False
    """5.5: whether a deletion names topic and unique key of a message, not the key alone. 5.3: always."""
    data_read_ahead_enable: bool = True
    """5.3: how the log is read, as code 2004 sets it. It changes nothing here."""
    transaction_time_out: int = 6000
    """How old a half message is, ms, before its producer is asked."""
    transaction_check_max: int = 15
    """How often a producer is asked about a half message."""
    transaction_check_interval: int = 0
    """ms between two rounds of asking; 0: 60 000 in 4.9, 30 000 in 5.3."""
    file_reserved_time: int = 72
    """h. Files of the log that are older go; half messages that are older are given up."""
    delete_when: str = "04"
    """Hours of the day in which files go, between semicolons, by the clock on the wall."""
    clean_resource_interval: int = 10000
    """ms between two looks for files that are too old."""
    clean_file_forcibly_enable: bool = True
    """Whether the oldest files go when the disk is nearly full, however old they are."""
    disk_max_used_space_ratio: int = 75
    """Percent of the disk, 10 to 95: where more is used, what is too old goes at any hour."""
    disk_space_clean_forcibly_ratio: int = 85
    """5.3: percent of the disk, 30 to 85: where more is used, the oldest files go (4.9: 85)."""
    disk_space_warning_level_ratio: int = 90
    """5.3: percent of the disk, 35 to 90: where more is used, nothing is stored (4.9: 90)."""
    in_memory_log_bytes: int = 268435456
    """Without `storePathRootDir`: how much of the log is kept. (Apache has no such setting.)"""
    config_black_list: str = ""
    """Keys that code 25 refuses, between semicolons, beside those that it always refuses."""

    @property
    def address(self) -> str:
        """Where clients find the Broker, "ip:port"."""
        return f"{self.broker_ip1}:{self.listen_port}"

    @property
    def ha_address(self) -> str:
        """Where slaves find the Broker, "ip:port"."""
        return f"{self.broker_ip2}:{self.ha_listen_port or self.listen_port + 1}"

    def delays_of_levels(self) -> tuple[int, ...]:
        """The delay of level 1, 2, … in ms."""
        return tuple(int(word[:-1]) * _UNITS[word[-1]] for word in self.message_delay_level.split())

    @property
    def has_light_topics(self) -> bool:
        """Whether messages go to light topics."""
        return self.enable_lmq and self.enable_multi_dispatch

    @property
    def is_slave(self) -> bool:
        """Whether this Broker follows a master."""
        return self.broker_role == "SLAVE"

    @property
    def delete_expired_above(self) -> float:
        """The part of the disk above which what is too old goes at any hour."""
        return min(max(self.disk_max_used_space_ratio, 10), 95) / 100

    @property
    def clean_forcibly_above(self) -> float:
        """The part of the disk above which the oldest files go."""
        return min(max(self.disk_space_clean_forcibly_ratio, 30), 85) / 100

    @property
    def full_above(self) -> float:
        """The part of the disk above which nothing is stored."""
        return min(max(self.disk_space_warning_level_ratio, 35), 90) / 100

    def of_store(self) -> StoreConfig:
        """What of this is the store's."""
        on_disk = StoreConfig(
            max_message_size=self.max_message_size, log_file_size=self.mapped_file_size_commit_log
        )
        if self.store_path_root_dir:
            return on_disk
        size = min(on_disk.log_file_size, max(self.in_memory_log_bytes // _FILES_IN_MEMORY, 1))
        return msgspec.structs.replace(on_disk, log_file_size=size, queue_file_entries=_QUEUE_IN_MEMORY)

    def check(self) -> None:
        """Raises ConfigError for settings that contradict each other or mean nothing."""
        for field in self.settings():
            allowed, found = _WORDS.get(field.encode_name), getattr(self, field.name)
            if allowed is not None and found not in allowed:
                raise ConfigError(f"{field.encode_name}={found}: expected one of {', '.join(allowed)}")
        if self.is_slave and self.broker_id <= 0:
            raise ConfigError(f"brokerId={self.broker_id}: a slave's id is above 0; 0 is the master's")
        try:
            ipaddress.ip_address(self.broker_ip1.strip("[]"))
        except ValueError as error:
            what = "expected an IP address, which is part of the id of every message"
            raise ConfigError(f"brokerIP1={self.broker_ip1}: {what}") from error
        if not _LEVELS.fullmatch(self.message_delay_level):
            raise ConfigError(f"messageDelayLevel={self.message_delay_level}: expected such as 1s 5s 10m 2h")
        for address in filter(None, self.namesrv_addr.split(";")):
            if not _ADDRESS.fullmatch(address):
                raise ConfigError(f"namesrvAddr={self.namesrv_addr}: expected host:port;host:port")


_FILES_IN_MEMORY: Final = 4
"""How many files the log in memory has, so that what goes is a small part of it."""
_QUEUE_IN_MEMORY: Final = 4_096
"""Messages of a file of a queue in memory, which goes when all of them have left the log."""
_WORDS: Final = {
    "brokerRole": ("ASYNC_MASTER", "SYNC_MASTER", "SLAVE"),
    "flushDiskType": ("ASYNC_FLUSH", "SYNC_FLUSH"),
    "defaultMessageRequestMode": ("PULL", "POP"),
}
_ADDRESS: Final = re.compile(r"\S+:[0-9]{1,5}")
_LEVELS: Final = re.compile(r"\d{1,9}[smhd]( \d{1,9}[smhd])*")
_UNITS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
