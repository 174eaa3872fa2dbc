"""The cases about frames and connections. Those that take `peer` also run on Brokers."""
