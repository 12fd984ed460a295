"""The arithmetic of the benches; what they measure is asserted nowhere."""
