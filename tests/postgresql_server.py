"""A PostgreSQL of our own: started in a temporary folder, by nobody who is root."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "a-secret-that-nobody-prints"


@dataclass(frozen=True)
class Server:
    """Where it listens: a socket in a folder, for the user `keeper`."""

    folder: Path
    user: str = "keeper"

    @property
    def server(self) -> str:
        """Return what libpq connects to."""
        return f"host={self.folder} user={self.user} dbname=postgres"

    def address(self, table: str = "", **settings: str) -> str:
        """Return the address of a table."""
        parts = {"host": str(self.folder), **settings}
        if table:
            parts["table"] = table
        words = "&".join(f"{name}={value}" for name, value in parts.items())
        return f"postgresql://{self.user}@/postgres?{words}"


def program(name: str) -> str | None:
    """Find a program of PostgreSQL; Debian keeps them out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def why_not() -> str:
    """Say why no server can be started; empty where one can."""
    if program("initdb") is None or program("postgres") is None:
        return "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    if os.name != "posix" or (os.getuid() == 0 and _servant() is None):
        return "PostgreSQL does not run as root, and there is no other user for it"
    return ""


def _servant() -> str | None:
    import pwd  # not on every system

    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@contextmanager
def running() -> Iterator[Server]:
    """Start a server and stop it."""
    user = _servant() if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="evosdc-pg-"))
    try:
        secret = folder / "secret"
        secret.write_text(PASSWORD + "\n")
        if user is not None:
            for path in (folder, secret):
                shutil.chown(path, user)
        data = folder / "data"
        subprocess.run(
            [
                program("initdb"), "-D", data, "-U", "keeper", "-E", "UTF8",
                "--locale=C", "--auth=scram-sha-256", f"--pwfile={secret}", "-N",
            ],
            check=True, user=user, cwd=folder, capture_output=True,
        )  # fmt: skip
        control = [program("pg_ctl"), "-D", data, "-w", "-l", folder / "log"]
        options = (
            f"-c listen_addresses='' -k {folder} -c fsync=off -c log_statement=all"
        )
        subprocess.run(
            [*control, "-o", options, "start"],
            check=True, user=user, cwd=folder, capture_output=True,
        )  # fmt: skip
        try:
            yield Server(folder)
        finally:
            subprocess.run(
                [*control, "-m", "immediate", "stop"],
                check=False, user=user, cwd=folder, capture_output=True,
            )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
