"""Settings of the controller, under the names of Apache's `controller.properties`. In a NameServer they
stand in the NameServer's own file.

1. Every setting of Apache's is here, so that a file written for Apache can be used as it is and code 1010
   shows what Apache shows.
2. What cannot be served is refused at the start: a controller without an address, one of several, and one
   on JRaft.

Source: ControllerConfig, NettyServerConfig, ControllerManager#initialize of rocketmq-all-5.3.3.
"""

from typing import ClassVar

from reference_impl.remoting.config import ServerConfig
from reference_impl.remoting.errors import ConfigError


class ControllerConfig(ServerConfig, frozen=True, kw_only=True, rename="camel"):
    """Effective settings; defaults are Apache's where nothing else is said."""

    LONG = frozenset(
        {
            "scanNotActiveBrokerInterval",
            "scanInactiveMasterInterval",
            "metricGrpcExporterTimeOutInMills",
            "metricGrpcExporterIntervalInMills",
            "metricLoggingExporterIntervalInMills",
        }
    )
    AT_LEAST: ClassVar = {
        "electMasterMaxRetryCount": 1,
        "scanInactiveMasterInterval": 1,
        "scanNotActiveBrokerInterval": 1,
    }

    controller_d_leger_group: str = ""
    """The name of the group of controllers, for show."""
    controller_d_leger_peers: str = ""
    """All controllers, `id-host:port` between semicolons: here one, the address to listen at."""
    controller_d_leger_self_id: str = ""
    """Which of them this one is."""
    controller_store_path: str = ""
    """The directory in which replicas and masters are kept. Empty: in memory only."""
    enable_elect_unclean_master: bool = False
    """Elect a replica that is not in sync where none is left that is."""
    notify_broker_role_changed: bool = True
    """Send code 1008 when a master was elected."""
    elect_master_max_retry_count: int = 3
    """How often an election is tried when a master has gone."""
    scan_not_active_broker_interval: int = 5000
    """Milliseconds between two looks at heartbeats. Read at the start."""
    scan_inactive_master_interval: int = 5000
    """Milliseconds between two looks for masters that are gone. Read at the start."""
    config_black_list: str = "configBlackList;configStorePath"
    """Keys that code 1009 refuses beside those that it always refuses, between semicolons."""
    rocketmq_home: str = ""
    """The directory of the installation, for show; empty: not shown."""

    config_store_path: str = ""
    controller_type: str = "DLedger"
    controller_thread_pool_nums: int = 16
    controller_request_thread_pool_queue_capacity: int = 50000
    mapped_file_size: int = 1024 * 1024 * 1024
    is_process_read_event: bool = False
    metrics_exporter_type: str = "DISABLE"
    metrics_grpc_exporter_target: str = ""
    metrics_grpc_exporter_header: str = ""
    metric_grpc_exporter_time_out_in_mills: int = 3000
    metric_grpc_exporter_interval_in_mills: int = 60_000
    metric_logging_exporter_interval_in_mills: int = 10_000
    metrics_prom_exporter_port: int = 5557
    metrics_prom_exporter_host: str = ""
    metrics_label: str = ""
    metrics_in_delta: bool = False

    def check(self) -> None:
        if self.controller_type != "DLedger":
            raise ConfigError(f"controllerType={self.controller_type}: expected DLedger, the only one here")
        host, port = self.address
        if not host or not 0 <= port <= 65535:
            raise ConfigError(
                f"controllerDLegerPeers={self.controller_d_leger_peers}, "
                f"controllerDLegerSelfId={self.controller_d_leger_self_id}: expected one controller, as "
                "n0-127.0.0.1:9877 and n0; a group of several is not built"
            )

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen at; an empty host and -1 where the peers do not say one."""
        number, _, address = self.controller_d_leger_peers.removesuffix(";").partition("-")
        host, _, port = address.rpartition(":")
        is_own = number == self.controller_d_leger_self_id and port.isdecimal() and ";" not in host
        return (host, int(port)) if is_own else ("", -1)
