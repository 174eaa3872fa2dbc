"""Settings reach a target as a `.properties` file that reads back as it was meant."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.session import Unsupported
from harness.targets import parse
from harness.targets.settings import has_controller, in_directory, ports_of_nameserver, write_properties
from harness.wire.bodies import Properties

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(settings=st.dictionaries(TEXT.filter(bool), TEXT, max_size=4))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "settings.properties"
    write_properties(path, settings)
    assert Properties.load(path.read_bytes()).pairs == settings


def test_values_may_name_the_directory_of_the_target(tmp_path: Path) -> None:
    setup = (("kvConfigPath", "{dir}/kv.json"), ("listenPort", "9876"))
    assert in_directory(setup, tmp_path) == {"kvConfigPath": f"{tmp_path}/kv.json", "listenPort": "9876"}


def test_a_controller_has_a_port_of_its_own() -> None:
    peers = (("controllerDLegerPeers", "n0-127.0.0.1:{controller}"),)
    assert has_controller(peers)
    assert ports_of_nameserver(peers) == (0, 1)
    assert not has_controller((("supportActingMaster", "true"),))
    assert ports_of_nameserver(()) == (0,)


def test_a_command_that_takes_no_settings_is_not_started_without_them() -> None:
    with pytest.raises(Unsupported, match=r"no \{config\}"):
        parse("exec:./ns --port {port}").another((("supportActingMaster", "true"),))


def test_a_server_of_somebody_else_cannot_be_given_settings() -> None:
    with pytest.raises(Unsupported, match="not ours"):
        parse("tcp://127.0.0.1:9876").another((("supportActingMaster", "true"),))
