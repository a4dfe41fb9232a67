"""Steering by a relaxed check of each equation, ending in the strict one."""
