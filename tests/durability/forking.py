"""Processes that are forked from one that has everything imported: to start one takes milliseconds."""

from __future__ import annotations

import multiprocessing

__all__ = ["CONTEXT"]

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["servers", "stores", "reference_impl.serve"])
