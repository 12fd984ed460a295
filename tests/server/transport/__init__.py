"""What happens around a call: limits, hanging up, ending, and the octets of a body."""
