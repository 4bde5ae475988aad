"""The page as a PDF, printed by the Chromium that is installed: no library draws pages as a browser does.

The page that it is given has no script, and a policy that forbids scripts and requests. The browser finds
no host, and starts with an empty profile of its own, which goes afterwards. (Chromium's own switch against
scripts stops it from printing at all.)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from probatum.core.errors import UsageError

__all__ = ["BROWSERS", "BROWSER_VARIABLE", "find_browser", "print_pdf"]

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "headless_shell",
    "microsoft-edge",
    "brave-browser",
)
"""Names under which a browser that can print is installed; the first that is found prints."""
BROWSER_VARIABLE: Final = "PROBATUM_BROWSER"
"""Environment variable that names another one."""
SECONDS: Final = 600
"""After so long the browser is stopped."""
_FLAGS: Final = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have 64 MB of it, and pages are larger
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
    "--export-tagged-pdf",
    "--generate-pdf-document-outline",
)


def find_browser() -> str:
    """The path of the browser that prints.

    Raises:
        UsageError: there is none, or the one that is named is none.
    """
    named = os.environ.get(BROWSER_VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise UsageError(f"{BROWSER_VARIABLE}={named!r} is no program; name a Chromium or Chrome")
        return found
    for name in BROWSERS:
        if (found := shutil.which(name)) is not None:
            return found
    raise UsageError(
        "a PDF is printed by Chromium or Chrome, and none is installed (Debian, Ubuntu: apt-get install "
        f"chromium); install one, name one in {BROWSER_VARIABLE}, or write .html and print that"
    )


def print_pdf(html: str, path: Path) -> None:
    """Prints a page that has no script to a PDF: tagged, with an outline, on A4.

    Args:
        html: `Report.html(printed=True)`.
        path: the file to write; an old one stays whole until the new one is.

    Raises:
        UsageError: no browser, a browser that fails, or a file that cannot be written.
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory(prefix="probatum-", ignore_cleanup_errors=True) as folder:
        page, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(html, encoding="utf-8")
        _print(browser, page, printed)
        _put(printed, path)


def _print(browser: str, page: Path, printed: Path) -> None:
    folder = page.parent
    command = [
        browser,
        *_FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={printed}",
        *(
            ["--no-sandbox"] if os.geteuid() == 0 else []
        ),  # root has no sandbox of Chromium's: it would not start
        page.as_uri(),
    ]
    told = folder / "told"
    try:
        with told.open("wb") as said:
            ended = subprocess.run(  # noqa: S603 - a browser found by name, on a page of our own
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=SECONDS,
                env={**os.environ, "HOME": str(folder)},
            ).returncode
    except OSError as error:
        raise UsageError(
            f"{browser!r} cannot be started: {error.strerror}; name another one in {BROWSER_VARIABLE}"
        ) from None
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"{browser!r} printed for {SECONDS} seconds without an end; ask for fewer --examples"
        ) from None
    if not _is_pdf(printed):
        lines = told.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        raise UsageError(
            f"{browser!r} printed nothing (exit status {ended}): {last[:300]!r}; write .html and print that, "
            f"or name another browser in {BROWSER_VARIABLE}"
        )


def _is_pdf(path: Path) -> bool:
    """Whether it begins and ends as one."""
    try:
        with path.open("rb") as stream:
            head = stream.read(5)
            stream.seek(max(path.stat().st_size - 1024, 0))
            return head == b"%PDF-" and b"%%EOF" in stream.read()
    except OSError:
        return False


def _put(printed: Path, path: Path) -> None:
    """Beside the file, and then in its place: nobody finds half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(printed, beside)
        beside.replace(path)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}; choose another file") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
