"""Dovecot's configuration for an account without rights, on loopback, in the syntax of 2.3 and of 2.4.

The two differ in names and in how a value is nested, and a 2.4 server refuses a 2.3 file. Everything lies under one
folder, nothing touches the machine's own Dovecot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Storage(StrEnum):
    """How messages lie on disk."""

    MAILDIR = "maildir"
    MDBOX = "mdbox"


SPECIAL_FOLDERS: Mapping[str, str] = {
    "Drafts": "\\Drafts",
    "Sent": "\\Sent",
    "Trash": "\\Trash",
    "Junk": "\\Junk",
    "Archive": "\\Archive",
}


@dataclass(frozen=True, slots=True)
class DovecotOptions:
    """What a suite may vary. `capability`: the advertised list, in place of the true one (imap_capability).

    `rights`: a folder's name to what its owner may do there (RFC 4314 letters); such a folder has no role. `quota`:
    the size of a whole mailbox and `largest` that of a message, both in Dovecot's own spelling (`64K`). `lmtp`: it
    takes mail for its users on the socket `run/lmtp` (RFC 2033).
    """

    storage: Storage = Storage.MAILDIR
    capability: str | None = None
    special_folders: Mapping[str, str] = field(default_factory=lambda: dict(SPECIAL_FOLDERS))
    rights: Mapping[str, str] = field(default_factory=dict)
    quota: str | None = None
    largest: str | None = None
    lmtp: bool = False


@dataclass(frozen=True, slots=True)
class DovecotLayout:
    """Where one instance lives and listens."""

    root: Path
    account: str
    group: str
    uid: int
    gid: int
    plain_port: int
    tls_port: int


def _services(layout: DovecotLayout, address: str) -> str:
    return f"""
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  process_min_avail = 1
  inet_listener imap {{
    {address} = 127.0.0.1
    port = {layout.plain_port}
  }}
  inet_listener imaps {{
    {address} = 127.0.0.1
    port = {layout.tls_port}
    ssl = yes
  }}
}}
"""


def _namespace(options: DovecotOptions, *, with_rights: bool = False) -> str:
    """`with_rights`: in the syntax of 2.4 they belong to the folder."""
    names = [*options.special_folders, *(name for name in options.rights if name not in options.special_folders)]
    folders = "".join(_folder(name, options, with_rights) for name in names)
    return f"namespace inbox {{\n  inbox = yes\n  separator = /\n{folders}}}\n"


def _folder(name: str, options: DovecotOptions, with_rights: bool) -> str:
    role = options.special_folders.get(name)
    lines = f"    auto = subscribe\n    special_use = {role}\n" if role else ""
    if with_rights and name in options.rights:
        lines += f"    acl owner {{\n      rights = {options.rights[name]}\n    }}\n"
    return f'  mailbox "{name}" {{\n{lines}  }}\n' if lines else ""


def _imap(layout: DovecotLayout, options: DovecotOptions, user: str) -> str:
    capability = f"  imap_capability = {options.capability}\n" if options.capability else ""
    return f"protocol imap {{\n  rawlog_dir = {layout.root}/rawlog/{user}\n{capability}}}\n"


def _common(layout: DovecotLayout, options: DovecotOptions) -> str:
    return f"""
base_dir = {layout.root}/run
state_dir = {layout.root}/state
log_path = {layout.root}/dovecot.log
protocols = imap{" lmtp" * options.lmtp}
listen = 127.0.0.1
default_internal_user = {layout.account}
default_internal_group = {layout.group}
default_login_user = {layout.account}
auth_mechanisms = plain login
auth_failure_delay = 0
mail_max_userip_connections = 200
mail_fsync = never
ssl = yes
"""


def _limits_23(layout: DovecotLayout, options: DovecotOptions) -> str:
    plugins = ["acl"] * bool(options.rights) + ["quota"] * bool(options.quota or options.largest)
    if not plugins:
        return ""
    settings = [f"acl = vfile:{layout.root}/acl"] * bool(options.rights)
    if "quota" in plugins:
        settings += ["quota = count:User quota", "quota_vsizes = yes", f"quota_rule = *:storage={options.quota or 0}"]
        settings += [f"quota_max_mail_size = {options.largest}"] * bool(options.largest)
    lines = "".join(f"  {each}\n" for each in settings)
    return f"mail_plugins = {' '.join(plugins)}\nplugin {{\n{lines}}}\n"


def acl_file(options: DovecotOptions) -> str:
    """The rights in the form of 2.3: a line for each folder."""
    return "".join(f"{name} owner {rights}\n" for name, rights in options.rights.items())


def _limits_24(options: DovecotOptions) -> str:
    text = ""
    if options.rights:
        text += "acl_driver = vfile\nacl_globals_only = yes\nmail_plugins {\n  acl = yes\n}\n"
    if options.quota or options.largest:
        size = f"  storage_size = {options.quota}\n" if options.quota else ""
        text += f'mail_plugins {{\n  quota = yes\n}}\nquota "User quota" {{\n  driver = count\n{size}}}\n'
    if options.largest:
        text += f"quota_mail_size = {options.largest}\n"
    return text


def _syntax_23(layout: DovecotLayout, options: DovecotOptions) -> str:
    root = layout.root
    return f"""
{_common(layout, options)}
ssl_cert = <{root}/cert.pem
ssl_key = <{root}/key.pem
disable_plaintext_auth = no
mail_location = {options.storage}:{root}/mail/%u
{_services(layout, "address")}
{_namespace(options)}
{_limits_23(layout, options)}
passdb {{
  driver = passwd-file
  args = scheme=plain username_format=%u {root}/users/%u
}}
userdb {{
  driver = static
  args = uid={layout.uid} gid={layout.gid} home={root}/home/%u
}}
{_imap(layout, options, "%u")}
"""


def _syntax_24(layout: DovecotLayout, options: DovecotOptions) -> str:
    root = layout.root
    folders = "maildir++" if options.storage is Storage.MAILDIR else "fs"
    return f"""dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
{_common(layout, options)}
ssl_server_cert_file = {root}/cert.pem
ssl_server_key_file = {root}/key.pem
auth_allow_cleartext = yes
mail_driver = {options.storage}
mail_path = {root}/mail/%{{user}}
mailbox_list_layout = {folders}
mail_uid = {layout.uid}
mail_gid = {layout.gid}
{_services(layout, "listen")}
{_namespace(options, with_rights=True)}
{_limits_24(options)}
passdb passwd-file {{
  passwd_file_path = {root}/users/%{{user}}
  default_password_scheme = plain
}}
userdb static {{
  fields {{
    uid = {layout.uid}
    gid = {layout.gid}
    home = {root}/home/%{{user}}
  }}
}}
{_imap(layout, options, "%{user}")}
"""


def dovecot_configuration(version: tuple[int, int], layout: DovecotLayout, options: DovecotOptions) -> str:
    """The whole file for that version of Dovecot."""
    return (_syntax_24 if version >= (2, 4) else _syntax_23)(layout, options)
