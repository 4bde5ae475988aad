"""What the README and the docs show runs as shown: `console` blocks by the shell, `python` blocks here.

A block under a line that is a file's name (`sums.py`:) is written to that file, and not run.
"""

from __future__ import annotations

import doctest
import gc
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
BLOCK = re.compile(
    r"(?:^`(?P<file>[\w.-]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)", re.MULTILINE)
STATUS = re.compile(r"#\s*exit status (\d+)\s*$")


@dataclass(frozen=True)
class Block:
    page: Path
    kind: str
    text: str
    file: str | None = None

    @property
    def local(self) -> bool:
        return "llamacpp/" in self.text or "humaneval" in self.text


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [
        Block(page, one["kind"], one["text"], one["file"])
        for one in found
        if one["file"] is not None or one["kind"] in ("console", "python")
    ]


@pytest.fixture(autouse=True)
def _no_store_stays_open() -> Iterator[None]:
    """A page does not close the stores of its runs: their threads would be counted by other tests."""
    yield
    for each in gc.get_objects():
        if type(each).__name__ == "SQLStore":
            each.close()


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """A page that generates with the embedded model takes minutes."""
    return [pytest.mark.slow] if any(block.local for block in blocks(page)) else []


def shell(command: str, directory: Path, page: Path) -> None:
    expected = int(found[1]) if (found := STATUS.search(command)) else 0
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "132"}
    done = subprocess.run(
        ["bash", "-c", STATUS.sub("", command)],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == expected, (
        f"{page.name}: $ {command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    )


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.stem, marks=marks(page)) for page in PAGES if blocks(page)]
)
def test_everything_that_a_page_shows_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any("llamacpp/" in block.text for block in blocks(page)):
        pytest.importorskip("xllamacpp", reason="needs the extra [local]")
    monkeypatch.chdir(tmp_path)
    module = type(sys)(f"page_{page.stem.replace('-', '_')}")  # functions of a page have a module to live in
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for number, block in enumerate(blocks(page)):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python" and ">>> " in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, module.__dict__, page.stem, str(page), 0)
            assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0
        elif block.kind == "python":
            source = tmp_path / f"{page.stem}_{number}.py"  # a recipe needs the source of its functions
            source.write_text(block.text, encoding="utf-8")
            exec(compile(block.text, str(source), "exec"), module.__dict__)
        else:
            for command in COMMAND.findall(block.text):
                shell(command, tmp_path, page)


def test_every_command_that_is_shown_exists() -> None:
    shown = {
        words[1]
        for page in PAGES
        for line in re.findall(
            r"^\s*(?:\$ )?(probatum [a-z].*)$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        if len(words := line.split()) > 1 and not words[1].startswith("-")
    }
    from probatum.cli.application import COMMANDS

    assert shown <= COMMANDS.keys()
    assert {"run", "results", "card", "validate"} <= shown


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(re.findall(r"^[a-z-]+$", index, re.MULTILINE))
