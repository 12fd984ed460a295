"""Dockerfiles, as far as ours go: instructions, the context that `.dockerignore` leaves, and what is wrong."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mailgate.settings_variables import VARIABLES

PINNED = re.compile(r"(?:[a-z0-9-]+/)?[a-z0-9-]+:[0-9]+\.[0-9]+[a-z0-9.-]*")
SECRETS = {row.name for row in VARIABLES.values() if row.secret}


@dataclass(frozen=True)
class Instruction:
    """One instruction: `name` in capitals, `rest` with continued lines joined."""

    name: str
    rest: str

    @property
    def exec_form(self) -> list[str]:
        """The words of a `CMD ["…"]`; ValueError when it is a line for a shell."""
        words = json.loads(self.rest[self.rest.index("[") :])
        if not all(isinstance(word, str) for word in words):
            raise ValueError("not all of them are words")
        return words

    @property
    def assignments(self) -> dict[str, str]:
        """`NAME=value` pairs of an ENV or ARG."""
        return dict(re.findall(r"([A-Z_][A-Z0-9_]*)=(\S+)", self.rest))

    @property
    def flags(self) -> dict[str, str]:
        """`--name=value` options in front of the arguments."""
        return dict(re.findall(r"--([a-z-]+)=(\S+)", self.rest))


def parse_dockerfile(text: str) -> list[Instruction]:
    """The instructions in order."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines) + "\n")
    return [Instruction(*_split(line)) for line in joined.splitlines()]


def _split(line: str) -> tuple[str, str]:
    name, _, rest = line.strip().partition(" ")
    return name.upper(), rest.strip()


def stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    """What stands before the first FROM, then one list for each stage."""
    found: list[list[Instruction]] = [[]]
    for instruction in instructions:
        if instruction.name == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


# --- the context --------------------------------------------------------------------------------------------------


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether `.dockerignore` keeps a file out: the last pattern that fits the file or a folder above it decides."""
    answer = False
    for pattern in patterns:
        wanted = pattern.lstrip("!").rstrip("/")
        above = [path, *(str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")]
        if any(_fits(each, wanted) for each in above):
            answer = not pattern.startswith("!")
    return answer


def _fits(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return any(_fits(path.split("/", skip)[-1], pattern[3:]) for skip in range(path.count("/") + 1))
    # `*` does not cross a slash (Go's filepath.Match).
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def ignore_patterns(text: str) -> list[str]:
    """The patterns of a `.dockerignore`."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def context(root: Path, patterns: list[str]) -> Iterator[Path]:
    """Every file that a build would get, relative to `root`."""
    skipped = {".git", ".venv", "node_modules"}
    for top in sorted(root.iterdir()):
        if top.name not in skipped:
            files = [top] if top.is_file() else sorted(top.rglob("*"))
            for file in files:
                name = file.relative_to(root).as_posix()
                if file.is_file() and not ignored(name, patterns):
                    yield Path(name)


# --- what is wrong ------------------------------------------------------------------------------------------------


def faults(instructions: list[Instruction], files: set[str], *, health: bool = True) -> list[str]:
    """Everything that must not be so; `files` is the context, `health` whether this file brings its own check."""
    return [
        *_bases(instructions),
        *_sources(instructions, files),
        *_forbidden(instructions),
        *_last_stage(stages(instructions)[-1], health=health),
    ]


def _bases(instructions: list[Instruction]) -> Iterator[str]:
    given = {name for each in instructions if each.name == "ARG" for name in [each.rest.partition("=")[0]]}
    names: set[str] = set()
    for each in instructions:
        if each.name != "FROM":
            continue
        image, *alias = re.split(r"\s+as\s+", each.rest, flags=re.IGNORECASE)
        argument = re.fullmatch(r"\$\{([A-Z]+)\}", image)
        if image not in names and not PINNED.fullmatch(image) and not (argument and argument[1] in given):
            yield f"the base {image} is not pinned to a version"
        names.update(alias)


def _sources(instructions: list[Instruction], files: set[str]) -> Iterator[str]:
    for each in instructions:
        if each.name != "COPY" or "from" in each.flags:
            continue
        *sources, _ = [word for word in each.rest.split() if not word.startswith("--")]
        for source in sources:
            wanted = source.rstrip("/")
            if wanted not in files and not any(name.startswith(f"{wanted}/") for name in files):
                yield f"COPY of {source}, which is not in the context"


def _forbidden(instructions: list[Instruction]) -> Iterator[str]:
    for each in instructions:
        if each.name == "ADD":
            yield "ADD, which fetches and unpacks"
        if each.name in ("ENV", "ARG") and SECRETS & set(re.findall(r"[A-Z_]+", each.rest)):
            yield "a secret in the image"
        if each.name == "RUN" and re.search(r"\b(curl|wget|git clone|sudo|chmod 777)\b|https?://", each.rest):
            yield "a RUN that fetches something by itself"
        if each.name == "RUN" and "pip install" in each.rest and "--require-hashes" not in each.rest:
            yield "pip without hashes"


def _last_stage(stage: list[Instruction], *, health: bool) -> Iterator[str]:
    last = {each.name: each for each in stage}
    user = last.get("USER")
    if user is None or not re.fullmatch(r"[1-9][0-9]*(:[1-9][0-9]*)?", user.rest):
        yield "no numeric user other than root"
    if health and ("HEALTHCHECK" not in last or last["HEALTHCHECK"].rest == "NONE"):
        yield "no health check"
    for name in ("ENTRYPOINT", "CMD"):
        if name in last and not last[name].rest.startswith("["):
            yield f"{name} goes through a shell, which keeps signals to itself"
