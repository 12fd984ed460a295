"""The command as an operator runs it, the form of its answer, and the page that explains it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mailgate.doctor import issuer, run, store
from mailgate.doctor.causes import CAUSES, Cause, Subject
from mailgate.doctor.checks import CHECKS
from mailgate.doctor.features import FEATURES
from mailgate.doctor.notes import Notes, Patience, Patient
from mailgate.doctor.verdicts import Outcome, Report, Verdict
from mailgate.faults import Fault
from mailgate.settings import load_settings
from tests.doctor.deployment import CANARY, USER, closed_port, dovecot_tls, examined, imap
from tests.peers.dovecot import MailUser
from tests.peers.issuer import Issuer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")


def doctor(folder: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mailgate", "doctor", *arguments],
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder), **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# --- the command -----------------------------------------------------------------------------------------------


def test_it_prints_a_line_for_each_check_and_exits_0_when_nothing_fails(tmp_path: Path, mail_user: MailUser) -> None:
    done = doctor(tmp_path, dovecot_tls(mail_user))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[1] for line in lines] == [check.id for check in CHECKS]
    assert {line[0] for line in lines} <= {"ok", "warn", "skipped"}


def test_it_exits_1_when_something_fails_and_names_it(tmp_path: Path, mail_user: MailUser) -> None:
    done = doctor(tmp_path, dovecot_tls(mail_user, MAIL_PASSWORD=CANARY))
    assert (done.returncode, done.stderr) == (1, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert line.split()[1] == "imap.login"
    assert " next: " in line
    assert CANARY not in done.stdout
    assert mail_user.name not in done.stdout


def test_json_is_one_object_of_a_stable_form(tmp_path: Path) -> None:
    port = closed_port()
    done = doctor(tmp_path, imap(port), "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert set(answer) == {"ok", "checks"}
    assert answer["ok"] is False
    assert [row["id"] for row in answer["checks"]] == [check.id for check in CHECKS]
    for row in answer["checks"]:
        assert {"id", "verdict"} <= set(row) <= {"id", "verdict", "cause", "next"}
        assert row["verdict"] in ("ok", "warn", "fail", "skipped")
        if row["verdict"] in ("warn", "fail"):
            assert row["cause"]
            assert row["next"]
    (failed,) = [row for row in answer["checks"] if row["verdict"] == "fail"]
    assert failed["id"] == "imap.connect"
    assert CANARY not in done.stdout
    assert USER not in done.stdout


def test_settings_that_stop_the_start_are_all_named_and_nobody_is_asked(tmp_path: Path) -> None:
    environ = imap(closed_port(), MAIL_IMAP_PORT="none", MAIL_FROM=CANARY, MAIL_ENABLE_SEND="1")
    done = doctor(tmp_path, environ)
    assert done.returncode == 1
    line, *others = done.stdout.splitlines()
    assert line.startswith("FAIL     settings")
    for name in ("MAIL_IMAP_PORT", "MAIL_FROM", "MAIL_SMTP_HOST"):
        assert name in line
    assert all(other.startswith("skipped") for other in others)
    assert CANARY not in done.stdout + done.stderr


def test_without_settings_the_missing_variables_are_named(tmp_path: Path) -> None:
    done = doctor(tmp_path, {})
    assert done.returncode == 1
    assert "missing: MAIL_IMAP_HOST, MAIL_USERNAME, MAIL_PASSWORD" in done.stdout.splitlines()[0]


def test_settings_come_from_the_env_file_that_is_named(tmp_path: Path) -> None:
    port = closed_port()
    (tmp_path / "work.env").write_text("".join(f"{name}={value}\n" for name, value in imap(port).items()))
    done = doctor(tmp_path, {}, "--env-file", "work.env")
    assert f"refuses connections on port {port}" in done.stdout
    assert "missing:" not in done.stdout


# --- bounds ----------------------------------------------------------------------------------------------------


async def test_an_examination_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(patient: Patient, notes: Notes) -> None:
        notes.ok("store.reach")
        await run.asyncio.Event().wait()

    monkeypatch.setattr(run, "EXAMINATIONS", ((endless, ("store.reach", "store.eviction")),))
    report = await run.examine(Patient(load_settings({}), Patience(total=0.05)))
    assert report.outcomes["store.reach"].verdict is Verdict.OK
    assert report.outcomes["store.eviction"].verdict is Verdict.FAIL
    assert "did not end in time" in (report.outcomes["store.eviction"].cause or "")


async def test_a_fault_of_the_doctor_is_a_failed_check_without_details(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(patient: Patient, notes: Notes) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(run, "EXAMINATIONS", ((broken, ("issuer.metadata",)),))
    report = await run.examine(Patient(load_settings({})))
    assert report.outcomes["issuer.metadata"].verdict is Verdict.FAIL
    assert CANARY not in "".join(report.lines())


async def test_a_ca_file_that_cannot_be_used_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    broken = tmp_path / "ca.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n")
    async with Issuer() as issuer_server:
        variables = {
            "MAIL_TLS_CA_FILE": str(broken),
            "MAIL_SMTP_HOST": "localhost",
            "MAIL_STORE": f"rediss://localhost:{closed_port()}",
            "MAIL_STORE_KEY": "a" * 43 + "=",
            "MAIL_OAUTH_ISSUER": issuer_server.url,
            "MAIL_OWNER_SUBJECTS": "owner",
            "MAIL_PUBLIC_URL": "http://localhost:8000/mcp",
        }
        found = await examined(imap(closed_port(), "tls", "localhost", **variables))
        assert issuer_server.connections == 0
    assert found.failures == ["imap.tls", "smtp.tls", "store.reach", "issuer.metadata"]
    assert all("MAIL_TLS_CA_FILE cannot be used" in found.cause(check) for check in found.failures)
    assert found.verdict("imap.connect") == "skipped"


# --- verdicts --------------------------------------------------------------------------------------------------


def test_what_is_not_well_needs_a_cause_and_a_next_step() -> None:
    for verdict in (Verdict.WARN, Verdict.FAIL):
        with pytest.raises(ValueError, match="next step"):
            Outcome(verdict, "Why.")


def test_only_a_failure_makes_a_report_fail() -> None:
    fine = {"a": Outcome(Verdict.OK), "b": Outcome(Verdict.WARN, "Why.", "Do."), "c": Outcome(Verdict.SKIPPED)}
    assert Report(fine).ok
    assert not Report({**fine, "d": Outcome(Verdict.FAIL, "Why.", "Do.")}).ok


# --- gates and the rest of the settings ------------------------------------------------------------------------


async def test_closed_gates_are_told() -> None:
    found = await examined(imap(closed_port()))
    assert found.cause("gates").startswith("All are closed")


async def test_gates_that_nobody_can_use_are_told() -> None:
    token = "0" * 64 + ":mail.read"
    found = await examined(imap(closed_port(), MAIL_ENABLE_WRITES="1", MAIL_TOKENS=token))
    assert found.verdict("gates") == "warn"
    assert "mail_save_draft is refused" in found.cause("gates")
    assert "no entry of MAIL_TOKENS has mail.write" in found.cause("gates")
    assert found.verdict("http") == "ok"


async def test_warnings_of_the_settings_are_told() -> None:
    found = await examined(imap(closed_port(), MAIL_ENABLE_DELETE="yes"))
    assert found.verdict("settings") == "warn"
    assert "MAIL_ENABLE_DELETE is set to something other than exactly 1" in found.cause("settings")


async def test_http_is_only_insisted_on_where_it_is_wanted() -> None:
    found = await examined(imap(closed_port()))
    assert found.verdict("http") == "warn"
    assert "stdio" in found.next_step("http")
    found = await examined(imap(closed_port(), MAIL_PUBLIC_URL="https://mail.example.invalid/mcp"))
    assert "http" in found.failures


@pytest.mark.parametrize(
    ("url", "verdict", "cause"),
    [
        ("http://localhost:8000/mcp", "ok", "on this machine"),
        ("https://mail.nowhere.invalid/mcp", "warn", "not known to DNS"),
        ("https://mail.example.com/", "warn", "does not end in /mcp"),
    ],
)
async def test_the_public_url_is_looked_at(url: str, verdict: str, cause: str) -> None:
    found = await examined(imap(closed_port(), MAIL_PUBLIC_URL=url))
    assert found.verdict("public_url") == verdict
    assert cause in found.cause("public_url")


# --- the page --------------------------------------------------------------------------------------------------

WORDS = {
    "name": "server",
    "host": "HOST",
    "port": "PORT",
    "host_variable": "MAIL_…_HOST",
    "port_variable": "MAIL_…_PORT",
    "security_variable": "MAIL_…_SECURITY",
    "user_variable": "MAIL_…USERNAME",
    "password_variable": "MAIL_…PASSWORD",
    "tls_port": "993 or 465",
    "clear_port": "143 or 587",
}


def row(cause: Cause, **words: str) -> str:
    return "| {} | {} |".format(*(text.format(**{**WORDS, **words}) for text in (cause.cause, cause.next_step)))


def test_every_check_is_on_the_page_in_order() -> None:
    assert [f"| `{check.id}` | {check.looks_at} |" for check in CHECKS] == re.findall(
        r"^\| `[a-z_.]+` \| [^|]+ \|$", PAGE.partition("## The checks")[2].partition("\n## ")[0], re.MULTILINE
    )


def test_every_fault_has_words() -> None:
    assert set(CAUSES) == set(Fault)


@pytest.mark.parametrize("fault", Fault)
def test_every_cause_of_not_reaching_a_server_is_on_the_page(fault: Fault) -> None:
    assert row(CAUSES[fault]) in PAGE


def test_every_cause_of_the_store_is_on_the_page() -> None:
    causes = [each for each in vars(store).values() if isinstance(each, Cause)]
    assert len(causes) == 11
    for cause in causes:
        assert row(cause) in PAGE


def test_every_cause_of_the_issuer_is_on_the_page() -> None:
    for cause in [*issuer.TROUBLES.values(), issuer.NO_KEYS]:
        assert row(cause, host_variable="MAIL_OAUTH_ISSUER or MAIL_OAUTH_JWKS_URL") in PAGE


def test_every_feature_is_on_the_page_with_its_cost() -> None:
    for feature in FEATURES:
        assert f"| `imap.{feature.name}` | {feature.cost} |" in PAGE


def test_the_times_on_the_page_are_those_in_force() -> None:
    patience = Patience()
    words = re.sub(r"\s+", " ", PAGE)
    assert f"{patience.connect:.0f} s to take the connection and {patience.command:.0f} s for an answer" in words
    assert f"all of it together {patience.total:.0f} s" in words


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault in CAUSES])
def test_what_one_variable_says_is_never_asked_for_twice(fault: Fault) -> None:
    _cause, step = CAUSES[fault].about(Subject.of_url("store", "rediss://store.example.com", "MAIL_STORE"))
    assert "MAIL_STORE and MAIL_STORE" not in step
    assert step.count("MAIL_STORE") <= 1
    assert "MAIL_STORE=tls" not in step
