"""The surface: the only rooms that know MCP, HTTP and pydantic."""
