"""What programs do to a NameServer: `steps`, and the `frames` that they become."""
