"""Settings from a Java `.properties` file, at the start."""

from __future__ import annotations

import pytest

from reference_impl.nameserver import PROFILES, Config, ConfigError, Settings


def test_apache_s_own_file() -> None:
    config = Config.from_properties(
        b"listenPort=1234\n# a remark\nserverWorkerThreads = 9\norderMessageEnable:TRUE\nclusterTest=false\n"
        b"x=y"
    )
    assert (config.listen_port, config.order_message_enable, config.server_worker_threads) == (1234, True, 9)
    assert config.file["x"] == "y"
    assert config.without_effect() == ("serverWorkerThreads", "x")


def test_settings_of_the_controller_mean_something_where_there_is_one() -> None:
    text = b"controllerStorePath=/x\nlistenPort=1234\nx=y\nenableControllerInNamesrv="
    assert Config.from_properties(text + b"true").without_effect() == ("x",)
    assert Config.from_properties(text + b"false").without_effect() == ("controllerStorePath", "x")


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_what_is_stored_can_be_read(profile: str) -> None:
    name = "a " if profile == "4.9" else "a"
    config = Config(listen_port=1, kv_config_path="/x\ny\\z", product_env_name=name, cluster_test=True)
    settings = Settings(PROFILES[profile], config)
    again = Settings(PROFILES[profile], Config.from_properties(settings.dump(), profile))
    assert again.pairs() == settings.pairs()


@pytest.mark.parametrize(
    "line",
    [
        b"listenPort=abc",
        b"listenPort=70000",
        b"listenPort=-1",
        b"orderMessageEnable=yes",
        b"scanNotActiveBrokerInterval=0",
        b"waitSecondsForService=",
        b"serverWorkerThreads=2147483648",
        b"kvConfigPath=\\u12",
    ],
)
def test_bad_values_are_refused_with_what_was_expected(line: bytes) -> None:
    with pytest.raises(ConfigError, match=r"expected|must be followed"):
        Config.from_properties(line)
