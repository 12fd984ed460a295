"""Which folder has which role, and the line to paste where nobody says so.

A name is never taken for a role: where it looks like one, the operator is shown the line and decides.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from mailgate.doctor.checks import ROLES
from mailgate.doctor.notes import Notes
from mailgate.imap.folders import Folder, Role, RoleAmbiguous, RoleFolder, RoleMissing, roles
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.policy import Gate
from mailgate.settings import Settings
from mailgate.settings_values import folder_roles

CANDIDATES_MAX: Final = 5
"""Lines offered for one role."""

# Names that mail programs and providers give these folders, in the languages they are sold in.
_NAMES: Final[Mapping[SpecialUse, str]] = MappingProxyType(
    {
        SpecialUse.DRAFTS: "drafts|draft|entwürfe|entwurf|brouillons|borradores|bozze|concepten|rascunhos|utkast|"
        "черновики|草稿|草稿箱|下書き",
        SpecialUse.SENT: "sent|sent items|sent messages|sent mail|sent-mail|gesendet|gesendete objekte|gesendete "
        "elemente|gesendete nachrichten|envoyés|messages envoyés|éléments envoyés|enviados|elementos enviados|posta "
        "inviata|inviati|inviata|verzonden|verzonden items|itens enviados|skickat|отправленные|已发送|送信済み",
        SpecialUse.TRASH: "trash|bin|deleted|deleted items|deleted messages|papierkorb|gelöscht|gelöschte "
        "elemente|gelöschte objekte|corbeille|éléments supprimés|messages supprimés|papelera|elementos "
        "eliminados|cestino|posta eliminata|prullenbak|verwijderde items|lixeira|itens "
        "excluídos|papperskorgen|корзина|удаленные|已删除|ゴミ箱",
        SpecialUse.JUNK: "junk|junk e-mail|junk email|junk mail|spam|bulk|bulk mail|spamverdacht|unerwünscht|courrier "
        "indésirable|indésirables|correo no deseado|posta indesiderata|ongewenste e-mail|lixo "
        "eletrônico|skräppost|спам|垃圾邮件|迷惑メール",
        SpecialUse.ARCHIVE: "archive|archives|archiv|archivio|archivo|archief|arquivo|arkiv|архив|归档|アーカイブ",
        SpecialUse.ALL: "all mail|alle nachrichten|tous les messages|todos|tutti i messaggi",
        SpecialUse.FLAGGED: "flagged|starred|markiert|suivis|destacados",
    }
)
# RFC 6154, 2: these are usually views of other folders, and few servers have them.
_OPTIONAL: Final = frozenset({SpecialUse.ALL, SpecialUse.FLAGGED})
_NEEDED: Final[Mapping[SpecialUse, tuple[frozenset[Gate], str]]] = MappingProxyType(
    {
        SpecialUse.TRASH: (frozenset({Gate.WRITES}), "mail_trash is refused"),
        SpecialUse.DRAFTS: (frozenset({Gate.WRITES}), "mail_save_draft is refused unless it names a folder"),
        SpecialUse.SENT: (frozenset({Gate.WRITES, Gate.SEND}), "a send that asks for a copy in Sent is refused"),
    }
)


def judge_roles(notes: Notes, folders: Sequence[Folder], settings: Settings) -> None:
    """A line for each role."""
    found = roles(folders, settings.folder_roles)
    for role in ROLES:
        _judge(notes, role, found[role], folders, settings)


def _judge(notes: Notes, role: SpecialUse, held: Role, folders: Sequence[Folder], settings: Settings) -> None:
    check = f"role.{role}"
    if isinstance(held, RoleFolder):
        notes.ok(check, "As MAIL_FOLDER_ROLES says." if held.mapped else None)
        return
    if isinstance(held, RoleMissing) and not held.mapped and role in _OPTIONAL:
        notes.ok(check, "The server names no folder for it, as most do.")
        return
    gates, cost = _NEEDED.get(role, (frozenset(), f"`role:{role}` names no folder"))
    is_needed = bool(gates) and gates <= settings.gates
    why = f"{held.why[0].upper()}{held.why[1:]}"
    told = f"{why}, so {cost}{'' if is_needed or not gates else ' once it is switched on'}."
    wrong_map = isinstance(held, RoleMissing) and held.mapped
    notes.judge(check, told, _next(role, held, folders, settings), fails=is_needed or wrong_map)


def _next(role: SpecialUse, held: Role, folders: Sequence[Folder], settings: Settings) -> str:
    """The lines to choose from; each keeps what MAIL_FOLDER_ROLES has already."""
    others = {each: name for each, name in settings.folder_roles.items() if each is not role}
    names = held.folders if isinstance(held, RoleAmbiguous) else candidates(role, folders)
    lines = [line for name in names if (line := roles_line({**others, role: name})) is not None][:CANDIDATES_MAX]
    if lines:
        choice = " or ".join(f"`{line}`" for line in lines)
        return f"Decide which folder it is and set, if that is the one: {choice}"
    kept = roles_line(others) if others else None
    start = f"{kept}," if kept else "MAIL_FOLDER_ROLES="
    return (
        f"No folder's name suggests it: make one in a mail program, then set `{start}{role}=NAME` with the name as "
        "mail_list_folders shows it."
    )


def candidates(role: SpecialUse, folders: Sequence[Folder]) -> tuple[FolderName, ...]:
    """Folders that can hold messages and whose last level is a usual name for the role."""
    usual = set(_NAMES[role].split("|"))
    return tuple(folder.name for folder in folders if folder.selectable and _last_level(folder) in usual)


def _last_level(folder: Folder) -> str:
    name = folder.name.text
    level = name.rpartition(folder.delimiter)[2] if folder.delimiter else name
    return unicodedata.normalize("NFC", level).casefold().strip()


def roles_line(mapping: Mapping[SpecialUse, FolderName]) -> str | None:
    """The assignment as it stands in `.env`; None for a name that the variable cannot express."""
    value = ",".join(f"{role.value}={name.text}".replace(",", "\\,") for role, name in mapping.items())
    try:
        if dict(folder_roles(value)) != dict(mapping):
            return None
    except ValueError:
        return None
    # Unquoted, ` #` would begin a comment there.
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" if "#" in value else value
    return f"MAIL_FOLDER_ROLES={quoted}"
