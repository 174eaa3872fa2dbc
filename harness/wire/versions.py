"""Releases by their ordinal in Apache's list (`MQVersion`), which the header member `version` carries."""

from __future__ import annotations

from typing import Final

V3_0_7_SNAPSHOT: Final = 28
"""From this header version on, a client can be told where to consume from, and asked where it does."""

V3_0_11: Final = 37
"""From this header version on, the body of REGISTER_BROKER is a RegisterBrokerBody."""

V3_1_8_SNAPSHOT: Final = 62
"""From this header version on, a client can be asked how it is, and to consume a message."""

V3_4_9: Final = 121
"""From this header version on, a Broker heeds how often a message that comes back may be tried again."""

V4_9_4: Final = 401
"""From this header version on, a topic route is answered in standard JSON."""

V4_9_8: Final = 409
V5_0_0: Final = 413
"""From this header version on, a compressed register body carries the mapping section (5.x servers)."""

V5_3_1: Final = 475
"""Peers of later header versions know what GO_AWAY (1500) means."""

V5_3_3: Final = 479
