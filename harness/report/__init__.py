"""Reports: records of a run, verdict arithmetic, and renderers that read nothing but those records."""
