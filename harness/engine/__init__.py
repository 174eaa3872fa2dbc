"""The engine: random programs against running servers, made, played, judged and counted.

- `executor` carries out steps of `harness.program` over sessions, so that everything is in one trace.
- A `kind` makes the program of a seed and plays it: `stateful`, `history`, `frames`; `fuzzing` plays batches
  of seeds, a campaign ranges of them.
- Oracles judge: the specification (`judge`), a history, the rules of frames (`frames`), a peer (`peer`).
- What differs between roles is a `role`: packages `nameserver` and `broker`.

A program is decided by its seed, never by a clock, and ends by reading back everything that can be seen.
"""
