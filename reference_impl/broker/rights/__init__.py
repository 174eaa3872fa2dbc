"""Rights of users (ACL 2.0 of 5.x): what requests need, and who has been given it."""
