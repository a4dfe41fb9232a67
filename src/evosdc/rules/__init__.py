"""Primary rules on contributors: what makes a cell sensitive, and by how much."""
