"""Users, their invitations, their sessions, and how they sign in."""
