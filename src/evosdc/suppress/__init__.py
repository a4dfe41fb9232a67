"""Cell suppression: the problem, the methods and their registry."""
