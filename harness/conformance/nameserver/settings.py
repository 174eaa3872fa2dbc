"""Settings for the servers of some cases.

Every setup costs a start of the target, so compatible settings share one. A case names the setting that it is
about.
"""

from __future__ import annotations

_ONE = {"supportActingMaster": "true", "orderMessageEnable": "true", "enableTopicList": "false"}
_OTHER = {
    "deleteTopicWithBrokerRegistration": "true",
    "returnOrderTopicConfigToBroker": "false",
    "enableAllTopicList": "false",
}

ACTING_MASTERS_ARE_SHOWN = _ONE
"""Routes show the smallest slave of a name without master as id 0 (5.x)."""
ORDER_IS_SHOWN = _ONE
"""Routes include the order configuration of their topic."""
LISTS_BY_KIND_ARE_OFF = _ONE
"""Codes 224, 311, 312 and 313 are refused (5.x)."""

ABSENT_TOPICS_GO = _OTHER
"""A registration removes the broker's topics that it does not carry (5.x)."""
ORDER_IS_NOT_RETURNED = _OTHER
"""Registrations are not answered with the order-topic table (5.x)."""
LIST_OF_ALL_IS_OFF = _OTHER
"""Code 206 is refused (5.x)."""

ROUTES_WAIT = {"needWaitForService": "true", "waitSecondsForService": "86400"}
"""Routes are refused for a day after the start (5.x)."""
ROUTES_WAIT_A_SECOND = {"needWaitForService": "true", "waitSecondsForService": "1"}
"""Routes are refused for a second after the start (5.x)."""

ONE_UNREGISTRATION_WAITS = {"unRegisterBrokerQueueCapacity": "1"}
"""At most one unregistration waits for the worker (5.x). Lost connections wait there too."""

CONTROLLER = {
    "enableControllerInNamesrv": "true",
    "controllerDLegerGroup": "controllers",
    "controllerDLegerPeers": "n0-127.0.0.1:{controller}",
    "controllerDLegerSelfId": "n0",
    "controllerStorePath": "{dir}/controller",
}
"""There is a controller (5.x), alone in its group."""
UNCLEAN_ELECTIONS = {**CONTROLLER, "enableElectUncleanMaster": "true"}
"""A Broker that is not in sync may become the master (5.x)."""
ROLES_ARE_NOT_TOLD = {**CONTROLLER, "notifyBrokerRoleChanged": "false"}
"""Brokers are not told of a new master (5.x)."""
ENDS_COME_BEFORE_LOOKS = {
    **CONTROLLER,
    "serverChannelMaxIdleTimeSeconds": "60",
    "scanNotActiveBrokerInterval": "3600000",
    "scanInactiveMasterInterval": "3600000",
}
"""The controller learns of lost Brokers by the ends of idle connections (5.x)."""
