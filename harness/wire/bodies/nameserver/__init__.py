"""Bodies between NameServers and those who ask them."""
