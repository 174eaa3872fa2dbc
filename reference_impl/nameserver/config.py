"""Settings of the reference NameServer, under the names that Apache's `namesrv.properties` uses.

1. Every setting of Apache's is here, so that a file written for Apache can be used as it is and code 319
   shows what Apache shows. Those that do nothing here are kept as data (`WITHOUT_EFFECT`); any other key of a
   file is kept too and is never an error.
2. At the start, a value of the wrong kind is refused with key, value and what was expected. (Apache ignores
   it silently and keeps the default. What code 318 does with such values is in `settings.py`.)
3. Units are those of Apache: see each field.

Source: NamesrvConfig, NettyServerConfig of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; code 319 of 5.5.0,
which has the keys of 5.3.3.
"""

from typing import ClassVar, Final

from reference_impl.remoting.config import ServerConfig
from reference_impl.remoting.tls_settings import TLS_KEYS

from .controller.config import ControllerConfig


class Config(ServerConfig, frozen=True, kw_only=True, rename="camel"):
    """Effective settings; defaults are Apache's where nothing else is said."""

    LONG = frozenset({"scanNotActiveBrokerInterval"})
    AT_LEAST: ClassVar = {
        "listenPort": 0,
        "scanNotActiveBrokerInterval": 1,
        "unRegisterBrokerQueueCapacity": 1,
    }

    listen_port: int = 9876
    """TCP port, 0 for any free one."""
    bind_address: str = "127.0.0.1"
    """Address to listen on. (Apache: `0.0.0.0`; a server for tests does not offer itself to the network. 4.9
    does not know this setting.)"""
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

    enable_controller_in_namesrv: bool = False
    """5.3: serve a controller at a port of its own; its settings are in `controller/config.py`."""

    product_env_name: str = "center"
    cluster_test: bool = False
    client_request_thread_pool_nums: int = 8
    default_thread_pool_nums: int = 16
    client_request_thread_pool_queue_capacity: int = 50000
    default_thread_pool_queue_capacity: int = 10000
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

    def has_controller(self, v5: bool) -> bool:
        """Whether a server of this line serves a controller."""
        return v5 and self.enable_controller_in_namesrv

    def _of_controller(self) -> set[str]:
        if not self.enable_controller_in_namesrv:
            return set()
        return {field.encode_name for field in ControllerConfig.settings()}

    def without_effect(self) -> tuple[str, ...]:
        """The keys of the file that mean something else than the default and do nothing here."""
        known = {field.encode_name: field for field in self.settings()}
        others = {*TLS_KEYS, *self._of_controller()}
        return tuple(
            key
            for key in self.file
            if (key not in known and key not in others)
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
