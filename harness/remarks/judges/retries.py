"""Messages that a consumer sends back."""

from __future__ import annotations

from harness.remarks.judge import Judge
from harness.remarks.stream import Said
from harness.wire import RequestCode
from harness.wire.messages import PropertyName, TopicName, decode_properties

from .reading import SENDS, sent


class Retries(Judge):
    statements = ("consuming.returned-message-names-its-original", "consuming.copy-for-a-retry-has-a-delay")

    def asked(self, said: Said) -> None:
        if said.command.code == RequestCode.CONSUMER_SEND_MSG_BACK:
            lacking = [field for field in ("originMsgId", "originTopic") if not said[field]]
            if lacking:
                self.remark(
                    "consuming.returned-message-names-its-original",
                    f"sent a message back without {' and '.join(lacking)}",
                    said,
                )
        elif said.command.code in SENDS and (sent(said, "topic") or "").startswith(TopicName.RETRY_PREFIX):
            properties = decode_properties(sent(said, "properties") or "")
            needed = PropertyName.RETRY_TOPIC, PropertyName.DELAY_TIME_LEVEL
            lacking = [name for name in needed if not properties.get(name)]
            if lacking:
                self.remark(
                    "consuming.copy-for-a-retry-has-a-delay",
                    f"sent a message to {sent(said, 'topic')} without {' and '.join(lacking)}",
                    said,
                )
