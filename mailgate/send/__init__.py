"""Sending in two calls: a message is prepared and shown, then exactly those bytes are sent, at most once."""
