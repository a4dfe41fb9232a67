"""Two-dimensional tables as networks: flows, paths and cuts."""
