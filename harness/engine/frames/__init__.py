"""Damaged frames: what is sent, what the catalogue lets a server do about it, and what came.

- `reading` says what a frame is and what must become of it, `answers` what may be answered; both are pure and
  derive it from statements of the catalogue. Where the catalogue says nothing, every harmless
  reaction is allowed, and counted as silent.
- `play` carries programs out, `judge` gives violations, `generate` makes programs, `corpus` keeps those that
  brought a reaction not seen before.
"""
