"""Bodies between Brokers and those who ask them."""
