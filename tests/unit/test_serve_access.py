"""`serve` with access control reads the files of accounts, writes them, and says what is wrong with them."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from test_serve_broker import Client, Process, broker

from harness.session.broker.signing import Account
from harness.wire import Command, RequestCode, ResponseCode
from reference_impl import serve

ADMIN = Account("administrator", "Verwaltung-1")
ACCOUNTS = f"""\
accounts:
- {{accessKey: {ADMIN.access_key}, secretKey: {ADMIN.secret_key}, admin: true}}
"""
LATER = Account("of-a-later-day", "12345678")


def config(home: Path, accounts: str | None, **settings: str) -> str:
    """The path of a file of settings, of a Broker whose home is a directory."""
    (home / "conf").mkdir(exist_ok=True)
    if accounts is not None:
        (home / "conf" / "plain_acl.yml").write_text(accounts)
    path = home / "broker.conf"
    lines = {"aclEnable": "true", "rocketmqHome": str(home), **settings}
    path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return str(path)


def ask(client: Client, account: Account, code: int, **ext: str) -> Command:
    signed = account.sign(Command(code=code, ext=dict(ext)))
    return client.ask(code, dict(signed.ext or {}))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Process]:
    process = Process(broker(profile="4.9", config_file=config(tmp_path, ACCOUNTS)))
    yield process
    process.process.kill()
    process.process.communicate()


def test_accounts_are_read_and_written(served: Process, tmp_path: Path) -> None:
    client = Client(served.port)
    assert client.ask(RequestCode.GET_BROKER_CONFIG, {}).code == ResponseCode.SYSTEM_ERROR
    assert ask(client, ADMIN, RequestCode.GET_BROKER_CONFIG).code == ResponseCode.SUCCESS
    stored = ask(
        client,
        ADMIN,
        RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
        accessKey=LATER.access_key,
        secretKey=LATER.secret_key,
        topicPerms="A=PUB,B=PUB|SUB",
    )
    assert stored.code == ResponseCode.SUCCESS
    assert ask(client, LATER, RequestCode.GET_BROKER_CONFIG).code == ResponseCode.SUCCESS
    written = yaml.safe_load((tmp_path / "conf" / "plain_acl.yml").read_text())
    (version,) = written["dataVersion"]
    assert version["counter"] == 1
    assert written["accounts"][1] == {
        "accessKey": LATER.access_key,
        "secretKey": LATER.secret_key,
        "admin": False,
        "topicPerms": ["A=PUB", "B=PUB|SUB"],
    }
    assert served.stop() == (0, "")


@pytest.mark.parametrize(
    ("accounts", "problem"),
    [
        ("accounts: [}", "no YAML"),
        ("- one", "expected the keys accounts and globalWhiteRemoteAddresses"),
        ("accounts: [{accessKey: short, secretKey: long-enough}]", "accessKey=short"),
        ("globalWhiteRemoteAddresses: [10.0.0.300]", "10.0.0.300: expected an address such as"),
        (ACCOUNTS + "  topicPerms: [A]\n", "no YAML"),
    ],
)
def test_files_that_cannot_be_read_end_the_start(
    accounts: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = serve.run_broker(profile="4.9", port=0, config_file=config(tmp_path, accounts))
    assert status == serve.EXIT_CONFIGURATION
    said = capsys.readouterr().err
    assert said.startswith(f"broker: {tmp_path}/conf/plain_acl.yml: ")
    assert problem in said


def test_accounts_need_a_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROCKETMQ_HOME", raising=False)
    path = config(tmp_path, None, rocketmqHome="")
    assert serve.run_broker(profile="4.9", port=0, config_file=path) == serve.EXIT_CONFIGURATION
    assert "expected rocketmqHome=DIR" in capsys.readouterr().err


def test_users_of_later_lines_sign_and_survive(tmp_path: Path) -> None:
    first = Account("first", "secret-1")
    settings = {
        "authenticationEnabled": "true",
        "authorizationEnabled": "true",
        "initAuthenticationUser": '{"username":"first","password":"secret-1"}',
    }
    unprotected = config(tmp_path, None, **settings)
    process = Process(broker(profile="5.3", config_file=unprotected))
    assert Client(process.port).ask(RequestCode.GET_BROKER_CONFIG, {}).code == ResponseCode.SUCCESS
    _, said = process.stop()
    assert "authenticationEnabled=true protects nothing" in said
    assert "authorizationEnabled=true protects nothing" in said

    path = config(
        tmp_path, None, **settings, authenticationMetadataProvider="x", storePathRootDir=str(tmp_path)
    )
    for code, answer in ((RequestCode.AUTH_DELETE_USER, b""), (RequestCode.AUTH_GET_USER, b"")):
        process = Process(broker(profile="5.3", config_file=path))
        client = Client(process.port)
        assert client.ask(RequestCode.GET_BROKER_CONFIG, {}).code == ResponseCode.NO_PERMISSION
        shown = ask(client, first, code, username="another")
        assert (shown.code, shown.body) == (ResponseCode.SUCCESS, answer)
        status, said = process.stop()
        assert status == 0
        assert "authorizationEnabled=true lets only Super users in" in said
    assert "secret-1" in (tmp_path / "config" / "users.json").read_text()


def test_brokers_of_later_lines_say_that_they_protect_nothing(tmp_path: Path) -> None:
    process = Process(broker(profile="5.3", config_file=config(tmp_path, ACCOUNTS)))
    assert Client(process.port).ask(RequestCode.GET_BROKER_CONFIG, {}).code == ResponseCode.SUCCESS
    status, said = process.stop()
    assert status == 0
    assert "aclEnable=true protects nothing" in said


def said_at_the_start(home: Path, accounts: str | None, capsys: pytest.CaptureFixture[str]) -> str:
    assert serve.run_broker(profile="4.9", config_file=config(home, accounts), print_config=True) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("accounts", [None, "globalWhiteRemoteAddresses: [' ']\naccounts: []\n"])
def test_without_an_account_it_says_what_to_write(
    accounts: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, rest = said_at_the_start(tmp_path, accounts, capsys).partition("; write ")
    assert head == f"broker: aclEnable=true lets no one in: {tmp_path}/conf/plain_acl.yml has no account"
    assert rest.endswith(" without a restart\n")
    assert said_at_the_start(tmp_path, rest.partition(" into it")[0], capsys) == ""


def test_addresses_that_are_let_in_need_no_account(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_at_the_start(tmp_path, "globalWhiteRemoteAddresses: [10.0.0.7]\n", capsys) == ""


def test_a_cluster_says_it_once(tmp_path: Path) -> None:
    path = config(tmp_path, None)
    process = Process(f"run_cluster(profile='4.9', size=Size(masters=2), port=0, config_file={path!r})")
    status, said = process.stop()
    assert (status, said.count("lets no one in"), said.count("\n")) == (0, 1, 1)


def test_a_file_that_may_not_be_read_ends_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config(tmp_path, ACCOUNTS)

    def refused(_: str) -> dict[str, bytes]:
        raise PermissionError(errno.EACCES, "Permission denied", "/home/conf/plain_acl.yml")

    monkeypatch.setattr("reference_impl.serve.access.files_of_access", refused)
    assert serve.run_broker(profile="4.9", port=0, config_file=path) == serve.EXIT_CONFIGURATION
    expected = "broker: aclEnable=true: /home/conf/plain_acl.yml cannot be read: Permission denied\n"
    assert capsys.readouterr().err == expected
