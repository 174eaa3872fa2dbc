"""Settings from a Java `.properties` file."""

from __future__ import annotations

import pytest

from reference_impl.nameserver import Config, ConfigError
from reference_impl.nameserver.config import parse_properties


def test_apache_s_own_file() -> None:
    loaded = Config.from_properties(
        "listenPort=1234\n# a remark\nserverWorkerThreads = 8\norderMessageEnable:TRUE\n"
    )
    assert loaded.config == Config(listen_port=1234, order_message_enable=True)
    assert loaded.without_effect == ("serverWorkerThreads",)


def test_what_is_printed_can_be_read() -> None:
    config = Config(listen_port=1, kv_config_path="/x y", support_acting_master=True)
    assert Config.from_properties("\n".join(config.lines())).config == config


@pytest.mark.parametrize(
    "line",
    [
        "listenPort=abc",
        "listenPort=70000",
        "listenPort=-1",
        "orderMessageEnable=yes",
        "scanNotActiveBrokerInterval=0",
        "waitSecondsForService=",
        "kvConfigPath=\\u12",
    ],
)
def test_bad_values_are_refused_with_what_was_expected(line: str) -> None:
    with pytest.raises(ConfigError, match=r"expected|must be followed"):
        Config.from_properties(line)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b", {"a": "b"}),
        ("  a : b ", {"a": "b "}),
        ("a b c", {"a": "b c"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("!x\n#y\n\n a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\\\n   2", {"a": "12"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a\\=b=c\\:d", {"a=b": "c:d"}),
        ("a\\ b c", {"a b": "c"}),
        ("a=\\u00e9\\t\\q", {"a": "é\tq"}),
        ("a=1\na=2", {"a": "2"}),
        ("a==b", {"a": "=b"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_properties(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs
