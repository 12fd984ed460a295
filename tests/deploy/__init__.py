"""The files under `deploy/`, tried as far as one machine without a cloud and without a container engine goes."""
