"""Counts what lies on the shelves."""
