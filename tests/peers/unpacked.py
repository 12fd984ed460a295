"""Programs that `scripts/second-opinions` unpacked: servers Debian would not install beside Dovecot."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "second-opinions"


@cache
def unpacked_root() -> Path | None:
    """The folder that stands for `/`, or None where the packages could not be had."""
    where = subprocess.run([SCRIPT, "--where"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(where, "root") if Path(where, "complete").is_file() else None


def program(path: str) -> str:
    """An unpacked program by the path it would be installed at."""
    root = unpacked_root()
    assert root is not None, "ask unpacked_root() first"
    return str(root / path.lstrip("/"))


@cache
def unpacked_environment() -> dict[str, str]:
    """Where the programs find their libraries and SASL its plug-ins."""
    root = unpacked_root()
    assert root is not None, "ask unpacked_root() first"
    folders = sorted({str(each.parent) for top in ("lib", "usr/lib") for each in (root / top).glob("*/*.so*")})
    libraries = [str(root / "usr/lib"), *folders]
    plugins = [str(each) for each in (root / "usr/lib").glob("*/sasl2")]
    return {
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "SASL_PATH": os.pathsep.join(plugins),
        "PATH": os.defpath,
    }
