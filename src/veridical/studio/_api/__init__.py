"""Handlers of the pages."""
