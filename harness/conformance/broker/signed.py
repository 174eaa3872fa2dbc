"""A Broker with users, who sign what they ask."""

from harness.conformance import Reply
from harness.session import BrokerSession, Exchange
from harness.session.broker.signing import Account
from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document

SUCCESS = ResponseCode.SUCCESS
ROOT = Account("first-of-all", "Größtes-Geheimnis")
AUTH = "org.apache.rocketmq.auth"
ON = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{AUTH}.authentication.provider.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": f'{{"username":"{ROOT.access_key}","password":"{ROOT.secret_key}"}}',
    "innerClientAuthenticationCredentials": (
        f'{{"accessKey":"{ROOT.access_key}","secretKey":"{ROOT.secret_key}"}}'
    ),
}
"""A Broker with users, whose first one signs for the Broker, too."""
WITH_RIGHTS = {
    **ON,
    "authorizationMetadataProvider": f"{AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
}
"""The same with a provider of rights, which no request needs. Without it, Apache's Broker removes a user, and
answers with an error.
"""


def about(bk: BrokerSession, code: int, name: str, **said: str) -> Exchange:
    """A request about a user, with a body if anything is said of it."""
    return bk.call(code, {"username": name}, document(said) if said else b"", about=name)


def make(bk: BrokerSession, password: str, *, named: str = "", **said: str) -> Account:
    """A new user, who is called otherwise in the body."""
    user = Account(named or f"{bk.name('U')}-ü", password)
    body = {"username": "ändere", "password": password, **said}
    about(bk, RequestCode.AUTH_CREATE_USER, user.access_key, **body) >> Reply(SUCCESS)
    return user
