"""What the image does, replayed without a container engine: the same files, compiled and started the same way.

Not replayed: the locked requirements, which this interpreter has already, and the engine's own confinement. Nothing may
be written where it runs, and the bytecode is what runs.
"""

from __future__ import annotations

import compileall
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.dockerfile import Instruction, context, ignore_patterns, parse_dockerfile, stages
from tests.deploy.servers import ROOT, START_SECONDS, TOKEN, token_entry
from tests.peers.processes import free_ports, wait_until

IMAGE = parse_dockerfile((ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"))
INSIDE = "/opt/mailgate"


def last(name: str) -> Instruction:
    """What the last stage says."""
    return [each for each in stages(IMAGE)[-1] if each.name == name][-1]


def here(text: str, root: Path) -> str:
    """A path inside the image as one of this machine."""
    return text.replace(INSIDE, str(root)).replace("/var/lib", str(root / "var"))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The image's files below a folder, compiled as the Dockerfile says, the sources spoilt, all of it read-only."""
    root = tmp_path_factory.mktemp("image")
    patterns = ignore_patterns((ROOT / ".dockerignore").read_text(encoding="utf-8"))
    copied = next(each.rest.split() for each in IMAGE if each.name == "COPY" and each.rest.startswith("mailgate "))
    target = Path(here(copied[1], root))
    for name in context(ROOT, patterns):
        if name.parts[0] == "mailgate":
            file = target / name.relative_to("mailgate")
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, file)
    compile_as_the_image_does(root)
    for source in target.rglob("*.py"):
        source.write_text("raise SystemExit('the source was run, and not the bytecode')\n", encoding="utf-8")
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield root
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def compile_as_the_image_does(root: Path) -> None:
    run = next(each.rest for each in IMAGE if each.name == "RUN" and "compileall" in each.rest)
    command = shlex.split(next(part for part in run.split("&&") if "compileall" in part))
    assert command[0] == f"{INSIDE}/bin/python"
    command = [sys.executable, *(here(word, root) for word in command[1:])]
    subprocess.run(command, check=True, timeout=START_SECONDS)


def environment(root: Path) -> dict[str, str]:
    """Every ENV of the last stage, and a token; nothing else of this process."""
    said: dict[str, str] = {}
    for each in stages(IMAGE)[-1]:
        if each.name == "ENV":
            said |= each.assignments
    return {name: here(value, root) for name, value in said.items() if name != "PATH"} | {"MAIL_TOKENS": token_entry()}


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in [root, *root.rglob("*")]}


def healthy(port: int) -> bool:
    """What the image's own health check says of a server on that port."""
    words = [word.replace("8000", str(port)) for word in last("HEALTHCHECK").exec_form]
    assert words[0] == "python"
    return subprocess.run([sys.executable, *words[1:]], capture_output=True, timeout=20, check=False).returncode == 0


def test_the_image_serves_from_a_read_only_folder_and_ends_on_sigterm(image: Path) -> None:
    (port,) = free_ports(1)
    before = snapshot(image)
    entry, command = last("ENTRYPOINT").exec_form, last("CMD").exec_form
    assert entry[0] == "python"
    assert f"EXPOSE {command[-1]}" == f"EXPOSE {last('EXPOSE').rest}"
    assert not healthy(port)
    process = subprocess.Popen(
        [sys.executable, *entry[1:], *command[:-1], str(port)],
        cwd=here(last("WORKDIR").rest, image),
        env=environment(image),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        started = wait_until(lambda: healthy(port), seconds=START_SECONDS, alive=lambda: process.poll() is None)
        assert started or process.poll() is not None, "it neither answers nor ends"
        assert started, process.communicate()[1]
        process.send_signal(getattr(signal, last("STOPSIGNAL").rest))
        _, log = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait(timeout=10)
    assert process.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in log
    assert TOKEN not in log
    assert not healthy(port)
    assert snapshot(image) == before, "something was written where it runs"


def test_every_module_is_compiled_and_no_source_is_looked_at(image: Path) -> None:
    package = image / "app" / "mailgate"
    sources = sorted(package.rglob("*.py"))
    assert len(sources) > 100
    for source in sources:
        compiled = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
        # PEP 552: flags 0b01 mean that the file carries a hash which is not checked.
        assert compiled.read_bytes()[4:8] == b"\x01\x00\x00\x00", compiled


def test_other_modes_of_compiling_would_be_noticed(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text("x = 1\n", encoding="utf-8")
    assert compileall.compile_file(source, quiet=1)
    (compiled,) = tmp_path.rglob("*.pyc")
    assert compiled.read_bytes()[4:8] != b"\x01\x00\x00\x00"


def test_a_store_lands_in_the_folder_that_the_image_keeps(image: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", "from mailgate.settings import read_settings; print(read_settings().store.path)"],
        cwd=here(last("WORKDIR").rest, image),
        env={**environment(image), "XDG_DATA_HOME": "/var/lib"},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=True,
    )
    made = re.findall(r"install -d -o ([0-9]+) \S+ \S+ -m 700 (\S+)", " ".join(each.rest for each in IMAGE))
    assert made == [(last("USER").rest.partition(":")[0], os.path.dirname(answer.stdout.strip()))]
