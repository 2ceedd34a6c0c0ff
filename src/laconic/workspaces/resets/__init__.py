"""Links by which a user chooses a new password."""
