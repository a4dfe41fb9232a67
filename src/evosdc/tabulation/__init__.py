"""From microdata to a table with its sensitive cells marked."""
