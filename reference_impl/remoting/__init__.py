"""What NameServer and Broker of the reference share: connections as bytes, TLS, effects, header fields."""
