"""One cluster with a control port for all tests of a module; each test begins with `reset`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from unit.control.port import Port, serving


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    with serving("--nameservers", "2", directory=tmp_path_factory.mktemp("cluster")) as port:
        yield port


@pytest.fixture
def port(cluster: Port) -> Port:
    cluster.post("/reset")
    return cluster
