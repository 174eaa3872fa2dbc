"""Access control of 4.9: Apache's clients sign for the reference, and `mqadmin` changes its accounts.

What `mqadmin` writes is as with Apache's Broker, and so are the files of accounts that the Brokers write.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from clusters import HASTE, apache_broker, apache_nameserver, clients, missing, our_broker, our_cluster
from peers import Admin, home

from harness.targets import TargetError

pytestmark = pytest.mark.live

ADMIN = ("administrator", "Verwaltung-1")
MEMBER = ("member-of-4.9", "sends-and-reads")
FILE = "conf/plain_acl.yml"
ACCOUNTS = f"""\
accounts:
- accessKey: {ADMIN[0]}
  secretKey: {ADMIN[1]}
  admin: true
- accessKey: {MEMBER[0]}
  secretKey: {MEMBER[1]}
  defaultTopicPerm: PUB|SUB
  defaultGroupPerm: SUB
"""
MESSAGES = 40
COMMANDS = (
    "updateAclConfig -b {broker} -a new-one -s new-secret -i PUB -u SUB -t A=PUB,B=SUB -g G=SUB -w 10.0.0.7",
    "updateAclConfig -b {broker} -a new-one -s later-secret -m true",
    "updateAclConfig -b {broker} -a member-of-4.9 -s 12345678 -i DENY",
    "updateAclConfig -b {broker} -a short -s short",
    "updateAclConfig -b {broker} -a new-one -s new-secret -t A=READ",
    "deleteAclConfig -b {broker} -a new-one",
    "deleteAclConfig -b {broker} -a new-one",
    "updateGlobalWhiteAddr -b {broker} -g 10.0.0.1,10.0.0.* -p {home}/conf/plain_acl.yml",
    "updateGlobalWhiteAddr -b {broker} -g 10.0.0.1 -p {home}/conf/none.yml",
    "clusterAclConfigVersion -b {broker}",
)


def guarded(directory: Path) -> dict[str, str]:
    """The settings of a Broker with these accounts, whose home is a directory."""
    (home(directory) / FILE).write_text(ACCOUNTS)
    return {"aclEnable": "true", "rocketmqHome": str(directory)}


@pytest.mark.parametrize("version", ["4.9.8", pytest.param("5.3.3", marks=pytest.mark.soak)])
def test_apaches_clients_sign(version: str, tmp_path: Path) -> None:
    """Those of 5.3 too, where the Broker is one of 4.9."""
    kinds = ("plain", "ordered", "batch", "transactional", "retry")
    try:
        with our_cluster("4.9", tmp_path, **HASTE, **guarded(tmp_path / "home")) as nameserver:
            found = clients(version, nameserver, MESSAGES, "signed", tmp_path, *kinds, account=MEMBER)
    except TargetError as problem:
        missing(problem)
    assert set(found) == set(kinds)
    for kind, one in found.items():
        assert one["sent"] >= MESSAGES // 4, kind
        assert (one["lost"], one["misordered"], one["wrong"]) == (0, 0, 0), kind


def written(broker: str, nameserver: str, place: str, directory: Path) -> dict[str, list[str]]:
    """What each command writes, without where, when and why, and without hashes of objects."""
    (home(directory) / "conf" / "tools.yml").write_text(f"accessKey: {ADMIN[0]}\nsecretKey: {ADMIN[1]}\n")
    with contextlib.closing(Admin("4.9.8", directory)) as admin:
        texts = {
            number: admin.run(nameserver, command.format(broker=broker, home=place))
            for number, command in enumerate(COMMANDS)
        }
    plain = {}
    for number, text in texts.items():
        without_places = text.replace(place, "<home>").replace(broker, "<broker>")
        said = re.sub(
            r"\d{4}-\d\d-\d\d \S+|(?<=Config@)\w+|(?<=DESC: )[^\t]*?(?=\n\t)", "<other>", without_places
        )
        plain[f"{number} {COMMANDS[number]}"] = [line.strip() for line in said.splitlines() if line.strip()]
    return plain


def accounts(text: str) -> Any:
    """A file of accounts, without its time."""
    found = yaml.safe_load(text)
    assert found["dataVersion"][0].pop("timestamp") > 0
    return found


def test_mqadmin_changes_accounts_as_on_apaches_broker(tmp_path: Path) -> None:
    homes = {name: tmp_path / name for name in ("ours", "theirs", "broker")}
    settings = {**guarded(homes["broker"]), "brokerClusterName": "peers"}  # as Apache's has it
    try:
        with (
            apache_nameserver("4.9.8") as nameserver,
            our_broker("4.9", nameserver, tmp_path, **settings) as broker,
        ):
            ours = written(broker, nameserver, str(homes["broker"]), homes["ours"])
        our_file = (homes["broker"] / FILE).read_text()
        with (
            apache_nameserver("4.9.8") as nameserver,
            apache_broker("4.9.8", nameserver, **{FILE: ACCOUNTS, "aclEnable": "true"}) as apaches,
        ):
            place = str(Path(f"/proc/{apaches.pid}/cwd").resolve())
            theirs = written(apaches.address, nameserver, place, homes["theirs"])
            their_file = apaches.file(FILE)
    except TargetError as problem:
        missing(problem)
    assert ours == theirs
    assert accounts(our_file) == accounts(their_file)
