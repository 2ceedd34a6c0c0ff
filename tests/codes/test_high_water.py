"""The mark outside the database: how far the cursor has ever come."""
