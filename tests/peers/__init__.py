"""Counterparts for tests: scripted and real servers, certificates, and what they recorded."""
