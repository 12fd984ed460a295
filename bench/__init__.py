"""Figures about mailgate, taken against real servers and real mail."""
