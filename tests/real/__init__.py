"""The read tools against real servers."""
