"""What is required of a pattern, and what a pattern is: the input of every method."""
