"""The plain file of the store's benchmark gets as many bytes as the store."""

from __future__ import annotations

import pytest

from bench.store import chunks


@pytest.mark.parametrize(("count", "sizes"), [(1, [10]), (32, [320]), (33, [320, 10])])
def test_few_messages_are_chunks_too(count: int, sizes: list[int]) -> None:
    assert [len(chunk) for chunk in chunks(10, count, 32)] == sizes
