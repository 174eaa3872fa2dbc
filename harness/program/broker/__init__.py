"""What programs do to a Broker: `steps`, and the `frames` that they become."""
