"""A URL shortener as books on system design draw it, written to be measured against: see `app`."""
