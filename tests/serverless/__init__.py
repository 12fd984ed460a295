"""Hosts that freeze a process, give each call a new event loop, or run no lifespan."""
