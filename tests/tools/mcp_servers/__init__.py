"""Small MCP servers, run by tests as programs of their own or on loopback."""
