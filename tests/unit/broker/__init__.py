"""The reference Broker, driven in virtual time."""
