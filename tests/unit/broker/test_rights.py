"""Rights that a Broker begins with, and what cannot be read of them."""

import pytest

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.rights.access import FILE
from reference_impl.broker.users import FILE as USERS
from reference_impl.remoting.errors import ConfigError

STORED = {
    USERS: b'[{"username":"u","password":"p"}]',
    FILE: b'[{"subject":"User:u","policies":[{"entries":'
    b'[{"actions":["Get"],"decision":"Allow","resource":"Topic:*"}]}]}]',
}
WITH_RIGHTS = {
    "authenticationMetadataProvider": "any",
    "authorizationMetadataProvider": "any",
    "authorizationEnabled": True,
}


def test_rights_of_the_file_are_in_force(asked):
    one = asked("5.3", stored=STORED, **WITH_RIGHTS)
    ext = {"AccessKey": "u"}
    assert one.ask(RequestCode.GET_TOPIC_CONFIG, {**ext, "topic": "T"}).code == ResponseCode.TOPIC_NOT_EXIST
    refused = one.ask(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {**ext, "group": "G"})
    assert refused.code == ResponseCode.NO_PERMISSION


def test_rights_that_cannot_be_read_stop_the_start(asked):
    with pytest.raises(ConfigError, match=f"{FILE} cannot be read"):
        asked("5.3", stored={FILE: b"{"}, **WITH_RIGHTS)


def test_brokers_of_4x_have_no_rights(asked):
    one = asked("4.9", **WITH_RIGHTS)
    assert one.ask(RequestCode.GET_BROKER_CONFIG, {"AccessKey": "u"}).code == ResponseCode.SUCCESS
    assert one.ask(RequestCode.AUTH_LIST_ACL).code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
