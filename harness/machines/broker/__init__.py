"""Machines of Brokers: producers, consumers, transactions, delays, crashes and restarts.

Rules of this package: those of `harness.machines`; what is here is a Broker's own (`role`), all the rest is
shared with NameServers.
"""
