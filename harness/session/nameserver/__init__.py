"""What a case says to a NameServer, and sees of its answers."""
