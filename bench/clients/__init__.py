"""Load that wrk cannot make. Each is a process of its own that prints one line of JSON at its end."""
