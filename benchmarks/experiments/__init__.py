"""The published experiments, run again: published figures beside measured ones."""
