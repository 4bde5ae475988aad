"""A PostgreSQL server for the tests: a given one, or a private cluster on a Unix socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

GIVEN = "PROBATUM_TEST_POSTGRES"


@contextmanager
def running_postgres() -> Iterator[str]:
    """URL of a server; skips where there is none."""
    pytest.importorskip("psycopg", reason="needs the extra: pip install 'probatum[postgres]'")
    given = os.environ.get(GIVEN)
    if given:
        yield given
        return
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if not found:
        pytest.skip(
            f"no PostgreSQL: set {GIVEN} to the URL of a server, or install one (/usr/lib/postgresql)"
        )
    with _private_cluster(found[-1].parent) as url:
        yield url


@contextmanager
def _private_cluster(binaries: Path) -> Iterator[str]:
    user = _unprivileged()
    place = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    if user is not None:
        os.chown(place, user.pw_uid, user.pw_gid)

    def run(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [binaries / program, *arguments],
            cwd=place,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never end
            stderr=subprocess.DEVNULL,
            check=False,
            **({} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}),
        )
        assert done.returncode == 0, f"{program} {arguments} ended with {done.returncode}"

    try:
        data = str(place / "data")
        run("initdb", "-D", data, "-U", "probatum", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-c listen_addresses= -c unix_socket_directories={place} -c max_connections=20 -F"
        run("pg_ctl", "-D", data, "-w", "-l", str(place / "log"), "-o", settings, "start")
        try:
            yield f"postgresql+psycopg://probatum@/postgres?host={place}"
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user here")


@contextmanager
def empty_schema(server: str) -> Iterator[str]:
    """URL under which that server looks empty."""
    name = f"test_{uuid4().hex}"
    engine = create_engine(server, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    try:
        url = make_url(server).update_query_dict(
            {"options": f"-csearch_path={name}", "application_name": name}
        )
        yield url.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
