"""mailgate: an MCP server in front of one owner's mailbox."""

__version__ = "0.1.0"
