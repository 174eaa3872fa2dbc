"""The judges: a module for each subject, which is a chapter of the catalogue or two."""
