"""The text that holds a message's properties: key 0x01 value 0x02 key 0x01 value …

- Reading is Apache's: a pair without a key, without 0x01 or with an empty value is dropped; a value ends with
  the next 0x02 and may hold 0x01; of two pairs with one key the later counts.
- Writing keeps the order of the dict. 4.9 leaves the last 0x02 out, 5.x writes it.

Source: MessageDecoder#messageProperties2String and #string2messageProperties of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping


def encode_properties(properties: Mapping[str, str], v5: bool) -> str:
    """The text. Nothing is escaped, for there is no escape: 0x01 and 0x02 in a key and 0x02 in a value break
    the pair for its reader.
    """
    if not properties:
        return ""
    text = "\2".join([f"{key}\1{value}" for key, value in properties.items()])
    return text + "\2" if v5 else text


def decode_properties(text: str) -> dict[str, str]:
    """The pairs of such a text, with or without the last 0x02."""
    properties = {}
    for pair in text.split("\2"):
        key, _, value = pair.partition("\1")
        if key and value:
            properties[key] = value
    return properties
