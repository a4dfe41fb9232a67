"""What the equations of a table say of its shape, read once for every engine."""
