"""Adapters for agent frameworks. Each is a module of its own, which imports its framework; none is imported before."""
