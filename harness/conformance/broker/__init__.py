"""The cases about Brokers, one file for each chapter. How to write one: `docs/guides/broker-cases.md`."""
