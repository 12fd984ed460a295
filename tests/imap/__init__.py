"""mailgate/imap, one file per module."""
