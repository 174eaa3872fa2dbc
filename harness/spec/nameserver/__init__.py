"""What the catalogue allows a NameServer: the transition function, judging by it, histories."""
