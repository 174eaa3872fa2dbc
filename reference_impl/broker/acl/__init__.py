"""Access control of 4.9 (ACL 1.0): who may ask what, and the files that say so."""
