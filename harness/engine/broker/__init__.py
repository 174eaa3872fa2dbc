"""Machines of Brokers: producers, consumers, transactions, delays, crashes and restarts.

As in `harness.engine`. What is here is a Broker's own (`role`), all the rest is
shared with NameServers.
"""
