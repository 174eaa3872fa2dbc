"""A response that is sent again and again and differs in its opaque only: encoded once, then stamped."""

_OPAQUE = b'"opaque":'
_WIDEST = len(str(-(2**31)))


class Stamp:
    """Made from one frame with a JSON header; gives the frame of the same response to another request.

    The header must not hold text that others choose (no `extFields`, no `remark`), so that the first
    `"opaque":` in it is the member of that name. `tests/unit/nameserver/test_stamp.py` compares with the
    encoder.
    """

    def __init__(self, frame: bytes) -> None:
        start = frame.index(_OPAQUE, 8) + len(_OPAQUE)
        end = frame.index(b",", start)
        length = int.from_bytes(frame[:4], "big") - (end - start)
        word = int.from_bytes(frame[4:8], "big") - (end - start)
        self._leads = [
            (length + width).to_bytes(4, "big") + (word + width).to_bytes(4, "big") + frame[8:start]
            for width in range(_WIDEST + 1)
        ]
        self._tail = frame[end:]

    def frame(self, opaque: int) -> bytes:
        """The frame for a request with that opaque."""
        digits = b"%d" % opaque
        return self._leads[len(digits)] + digits + self._tail
