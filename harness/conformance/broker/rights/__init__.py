"""The chapter about rights of users of 5.x."""
