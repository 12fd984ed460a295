"""Messages: from raw octets to what a reader may see, within bounds. Knows no IMAP, no socket, and no clock."""
