"""What a case says to a Broker, and sees of its answers."""
