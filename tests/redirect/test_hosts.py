"""Which site a Host header means, and which addresses may speak for others."""
