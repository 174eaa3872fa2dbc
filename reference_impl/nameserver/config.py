"""Settings of the reference NameServer, under the names that Apache's `namesrv.properties` uses.

Rules:
1. Every setting of Apache's is here, so that a file written for Apache can be used as it is and code 319
   shows what Apache shows. Those that do nothing here are kept as data (`WITHOUT_EFFECT`); any other key of a
   file is kept too and is never an error.
2. At the start, a value of the wrong kind is refused with key, value and what was expected. (Apache ignores
   it silently and keeps the default; a server that starts with another setting than its file says helps
   nobody. What code 318 does with such values is in `settings.py`.)
3. Units are those of Apache: see each field.

Source: NamesrvConfig, NettyServerConfig of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; code 319 of 5.5.0,
which has the keys of 5.3.3.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from harness.wire import WireError
from harness.wire.bodies import Properties
from reference_impl.remoting import values
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.tls_settings import TLS_KEYS
from reference_impl.remoting.values import Limits

from .profiles import PROFILES

__all__ = ["NOT_IN_49", "WITHOUT_EFFECT", "Config", "bits"]


class Config(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Effective settings; defaults are Apache's where nothing else is said."""

    listen_port: int = 9876
    """TCP port, 0 for any free one."""
    bind_address: str = "0.0.0.0"
    """Address to listen on. (4.9 does not know it.)"""
    rocketmq_home: str = ""
    """The directory of the installation, for show; empty: not shown. (Apache needs one to start.)"""
    kv_config_path: str = ""
    """File of the KV table. Empty: in memory only. (Apache: `<user.home>/namesrv/kvConfig.json`.)"""
    config_store_path: str = ""
    """File that code 318 writes: the configuration file, if there is one. Empty: in memory only. (Apache:
    `<user.home>/namesrv/namesrv.properties`.)"""
    config_black_list: str = "configBlackList;configStorePath;kvConfigPath"
    """Keys that code 318 refuses beside those that it always refuses, between semicolons."""
    server_channel_max_idle_time_seconds: int = 120
    """For how long a connection may go without a whole frame either way before it is closed; 0 or less: for
    ever."""
    order_message_enable: bool = False
    """Show `orderTopicConf` in routes."""
    return_order_topic_config_to_broker: bool = True
    """5.3: answer a registration with the order-topic table."""
    scan_not_active_broker_interval: int = 5000
    """5.3: milliseconds between two expiry scans (4.9: fixed)."""
    un_register_broker_queue_capacity: int = 3000
    """5.3: unregistrations that may wait for the worker."""
    support_acting_master: bool = False
    """5.3: show the smallest slave of a name without master as id 0 in routes."""
    delete_topic_with_broker_registration: bool = False
    """5.3: a registration removes the broker's topics that it does not list."""
    enable_all_topic_list: bool = True
    """5.3: answer code 206."""
    enable_topic_list: bool = True
    """5.3: answer codes 224, 311, 312 and 313."""
    notify_min_broker_id_changed: bool = False
    """5.3: send code 905 when the smallest id of a broker name changes."""
    need_wait_for_service: bool = False
    """5.3: refuse routes until `waitSecondsForService` have passed since the start."""
    wait_seconds_for_service: int = 45
    """5.3: see `needWaitForService`."""
    enable_shutdown_gracefully: bool = False
    """5.3: go on for a while when asked to stop, and send newer clients away (code 1500)."""
    shutdown_wait_time_seconds: int = 30
    """5.3: for how long; see `enableShutdownGracefully`."""

    product_env_name: str = "center"
    cluster_test: bool = False
    client_request_thread_pool_nums: int = 8
    default_thread_pool_nums: int = 16
    client_request_thread_pool_queue_capacity: int = 50000
    default_thread_pool_queue_capacity: int = 10000
    enable_controller_in_namesrv: bool = False
    server_worker_threads: int = 8
    server_callback_executor_threads: int = 0
    server_selector_threads: int = 3
    server_oneway_semaphore_value: int = 256
    server_async_semaphore_value: int = 64
    server_socket_snd_buf_size: int = 0
    server_socket_rcv_buf_size: int = 0
    write_buffer_high_water_mark: int = 0
    write_buffer_low_water_mark: int = 0
    server_socket_backlog: int = 1024
    server_netty_worker_group_enable: bool = True
    server_pooled_byte_buf_allocator_enable: bool = True
    use_epoll_native_selector: bool = False

    file: dict[str, str] = {}
    """What the configuration file says, as it says it; no setting."""

    @classmethod
    def from_properties(cls, data: bytes, profile: str = "5.5") -> "Config":
        """Read a Java `.properties` file. Raises ConfigError on a bad value or a malformed escape."""
        try:
            return cls.of(Properties.load(data).pairs, profile)
        except WireError as error:
            raise ConfigError(str(error)) from error

    @classmethod
    def of(cls, pairs: Mapping[str, str], profile: str = "5.5") -> "Config":
        """The settings of these pairs; 4.9 does not trim strings. Raises ConfigError on a bad value."""
        trims = PROFILES[profile].v5_settings
        given: dict[str, Any] = {
            field.name: values.read_value(
                field.encode_name,
                pairs[field.encode_name],
                field.type,
                trims=trims,
                limits=_limits(field.encode_name),
            )
            for field in cls.settings()
            if field.encode_name in pairs
        }
        return cls(**given, file=dict(pairs))

    @classmethod
    def settings(cls) -> tuple[msgspec.structs.FieldInfo, ...]:
        """The fields that are settings; `encode_name` is the key."""
        return tuple(field for field in msgspec.structs.fields(cls) if field.name != "file")

    def without_effect(self) -> tuple[str, ...]:
        """The keys of the file that mean something else than the default and do nothing here."""
        known = {field.encode_name: field for field in self.settings()}
        return tuple(
            key
            for key in self.file
            if (key not in known and key not in TLS_KEYS)
            or (key in WITHOUT_EFFECT and getattr(self, known[key].name) != known[key].default)
        )


NOT_IN_49: Final = frozenset(
    {
        "bindAddress",
        "returnOrderTopicConfigToBroker",
        "scanNotActiveBrokerInterval",
        "unRegisterBrokerQueueCapacity",
        "supportActingMaster",
        "deleteTopicWithBrokerRegistration",
        "enableAllTopicList",
        "enableTopicList",
        "notifyMinBrokerIdChanged",
        "needWaitForService",
        "waitSecondsForService",
        "clientRequestThreadPoolNums",
        "defaultThreadPoolNums",
        "clientRequestThreadPoolQueueCapacity",
        "defaultThreadPoolQueueCapacity",
        "enableControllerInNamesrv",
        "serverNettyWorkerGroupEnable",
        "enableShutdownGracefully",
        "shutdownWaitTimeSeconds",
    }
)
"""Settings that came with 5.x."""

WITHOUT_EFFECT: Final = frozenset(
    {
        "productEnvName",
        "clusterTest",
        "clientRequestThreadPoolNums",
        "defaultThreadPoolNums",
        "clientRequestThreadPoolQueueCapacity",
        "defaultThreadPoolQueueCapacity",
        "enableControllerInNamesrv",
        "serverWorkerThreads",
        "serverCallbackExecutorThreads",
        "serverSelectorThreads",
        "serverOnewaySemaphoreValue",
        "serverAsyncSemaphoreValue",
        "serverSocketSndBufSize",
        "serverSocketRcvBufSize",
        "writeBufferHighWaterMark",
        "writeBufferLowWaterMark",
        "serverSocketBacklog",
        "serverNettyWorkerGroupEnable",
        "serverPooledByteBufAllocatorEnable",
        "useEpollNativeSelector",
    }
)
"""Settings that do nothing here: they are about Java's threads and buffers, or about what is not built."""


_LONG = frozenset({"scanNotActiveBrokerInterval"})
"""Numbers of 64 bits; all others have 32."""
_AT_LEAST = {"listenPort": 0, "scanNotActiveBrokerInterval": 1, "unRegisterBrokerQueueCapacity": 1}


def bits(key: str) -> int:
    """How large the number of a setting may be: 31 bits or 63."""
    return _limits(key).bits


def _limits(key: str) -> Limits:
    return Limits(63 if key in _LONG else 31, _AT_LEAST.get(key))
