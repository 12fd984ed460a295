"""mailgate beside other mail servers for MCP and beside hand-written code, on one mailbox and one measured line."""
