"""Users that a Broker begins with, and what cannot be read of them."""

import pytest

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.users import FILE
from reference_impl.remoting.errors import ConfigError

WITH_USERS = {"authenticationMetadataProvider": "any"}


def test_without_a_first_user_there_are_those_of_the_file(asked):
    stored = b'[{"username":"u","password":"p","userType":"Super","userStatus":"disable"}]'
    one = asked("5.3", stored={FILE: stored}, **WITH_USERS)
    reply = one.ask(RequestCode.AUTH_LIST_USER)
    assert (reply.code, reply.body) == (
        ResponseCode.SUCCESS,
        b'[{"password":"p","userStatus":"disable","userType":"Super","username":"u"}]',
    )


@pytest.mark.parametrize("first", ["name", "[]", '{"username":"u"}'])
def test_a_first_user_that_cannot_be_read_stops_the_start(asked, first):
    with pytest.raises(ConfigError, match="initAuthenticationUser: "):
        asked("5.3", initAuthenticationUser=first, **WITH_USERS)


def test_users_that_cannot_be_read_stop_the_start(asked):
    with pytest.raises(ConfigError, match=f"{FILE} cannot be read"):
        asked("5.3", stored={FILE: b"{"}, **WITH_USERS)


def test_brokers_of_4x_have_no_users(asked):
    one = asked("4.9", authenticationEnabled=True, **WITH_USERS)
    assert one.ask(RequestCode.GET_BROKER_CONFIG).code == ResponseCode.SUCCESS
    assert one.ask(RequestCode.AUTH_LIST_USER).code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
