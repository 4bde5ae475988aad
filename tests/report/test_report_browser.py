"""The report in a real browser: nothing on its console, no request, accessible, usable by keyboard."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probatum.report.page import make_report
from probatum.report.page.figures import COLOURS, DARK
from tests.report.browser import axe_source, opened_tab, running_browser
from tests.report.reported import EVERY_ENDING, Sure, made_run, right, sure_gold
from tests.report.test_report import HOSTILE, Page

SHOWN = 30
"""Examples of each kind: more than one page of them."""
FACTS = """
JSON.stringify({
  pwned: typeof window.pwned, scripts: document.scripts.length, images: document.images.length,
  title: document.title, headings: document.querySelectorAll('h1').length,
  marks: document.querySelectorAll('mark').length, plots: document.querySelectorAll('svg').length,
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  unnamed: [...document.querySelectorAll('svg, [role=group]')].filter(e => !e.getAttribute('aria-label')).length,
  ground: getComputedStyle(document.querySelector('body')).backgroundColor,
  line: getComputedStyle(document.querySelector('svg circle')).fill,
  tools: document.querySelectorAll('.tools').length,
})
"""
AXE = "axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map(each => [each.id, each.help, each.nodes.slice(0, 5).map(node => [node.target, node.failureSummary])])))"
SEEN = "[...document.querySelectorAll('%s details.example')].filter(e => e.offsetParent !== null).length"
FIRST = "section:has(> #run-A-task-0-examples)"


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report of three runs, one with hostile outputs, in each language and for paper."""
    directory = tmp_path_factory.mktemp("page")
    replies = [*EVERY_ENDING, *HOSTILE, *(f"wrong {number}" for number in range(40))]
    hostile = made_run(directory, replies, "hostile", strata=[str(n % 5) for n in range(len(replies))])
    good = made_run(directory, [right(number) for number in range(len(replies))], "good")
    again = made_run(directory, ["0"] * len(replies), "good", system="In other words")
    sure = [f"{50 + number} {right(number) if number % 3 else 'no'}" for number in range(40)]
    other = made_run(directory, sure, "sure", name="sure", scorer=Sure(), gold=sure_gold)
    runs = (hostile, good, again, other)
    english, chinese = (make_report(*runs, examples=2, language=language) for language in ("en", "zh"))
    made = {
        "en": make_report(*runs, examples=SHOWN).html(),
        "short-en": english.html(),
        "short-zh": chinese.html(),
        "paper": english.html(printed=True),
    }
    for run in runs:
        run.store.close()
    written = {name: directory / f"{name}.html" for name in made}
    for name, text in made.items():
        written[name].write_text(text, encoding="utf-8")
    return written


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with running_browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


async def visited(port: int, page: Path, scheme: str) -> dict[str, Any]:
    """What the page is, said and asked for."""
    async with opened_tab(port, scheme=scheme) as tab:
        await tab.visit(page)
        found: dict[str, Any] = json.loads(await tab.value(FACTS))
        await tab.press("Tab", 9)
        found["first stop"] = await tab.value("document.activeElement.className")
        await tab.value("document.querySelector('details.example summary').focus()")
        await tab.press("Enter", 13, "\r")
        found["opened"] = await tab.value("document.querySelector('details.example').open")
        found["said"], found["asked for"] = tab.said, tab.asked_for
        return found


@pytest.mark.parametrize(("scheme", "colours"), [("light", COLOURS), ("dark", DARK)])
@pytest.mark.parametrize("name", ["en", "short-zh"])
def test_in_a_browser(port: int, pages: dict[str, Path], name: str, scheme: str, colours: Any) -> None:
    found = asyncio.run(visited(port, pages[name], scheme))
    assert found["said"] == []
    assert found["asked for"] == [pages[name].as_uri()]
    assert found["pwned"] == "undefined"
    assert found["images"] == found["unnamed"] == 0
    assert found["scripts"] == found["headings"] == 1
    assert found["plots"] > 10
    assert found["ground"] == rgb(colours["paper"])  # the style is applied: the policy lets it through
    assert found["line"] == rgb(colours["accent"])
    assert found["tools"] == 4  # so is the script
    assert not found["wide"]
    assert found["first stop"] == "skip"
    assert found["opened"] is True


async def violations(port: int, page: Path, scheme: str, axe: str) -> list[Any]:
    """What axe-core finds, everything open."""
    async with opened_tab(port, scheme=scheme) as tab:
        await tab.ask(
            "Page.setBypassCSP", enabled=True
        )  # axe makes elements in ways that the page's policy refuses
        await tab.visit(page)
        await tab.value(axe + "; 0")
        await tab.value("document.querySelectorAll('details').forEach(one => one.open = true)")
        found: list[Any] = json.loads(await tab.value(AXE))
        return found


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *((name, scheme) for name in ("short-en", "short-zh") for scheme in ("light", "dark")),
        ("paper", "light"),
    ],
)
def test_axe_finds_no_violation(port: int, pages: dict[str, Path], name: str, scheme: str) -> None:
    assert asyncio.run(violations(port, pages[name], scheme, axe_source())) == []


def test_axe_finds_what_is_wrong_with_a_page(port: int, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<!DOCTYPE html><title>t</title><p style='color:#ccc'>faint</p><img src='data:,'>")
    names = {each[0] for each in asyncio.run(violations(port, page, "light", axe_source()))}
    assert {"color-contrast", "image-alt", "html-has-lang"} <= names


async def chosen(port: int, page: Path) -> dict[str, Any]:
    """What the controls of the examples do."""
    async with opened_tab(port) as tab:
        await tab.visit(page)
        seen = SEEN % FIRST
        of = f"document.querySelector('{FIRST} .tools')"
        found: dict[str, Any] = {
            "all": await tab.value(f"document.querySelectorAll('{FIRST} details.example').length")
        }
        told = f"{of}.querySelector('[role=status]').textContent"
        found["first page"] = await tab.value(seen), await tab.value(told)
        await tab.value(f"{of}.querySelectorAll('button')[1].click()")
        found["next page"] = await tab.value(seen)
        await tab.value(f"{of}.querySelector('input').focus()")
        await tab.ask("Input.insertText", text="The Line is DOWN")
        found["found"] = await tab.value(seen), await tab.value(told)
        await tab.value(f"{of}.querySelector('input').value = ''")
        await tab.value(
            f"{of}.querySelector('select').value = '1'; {of}.querySelector('select').dispatchEvent(new Event('change'))"
        )
        found["of a kind"] = await tab.value(seen)
        await tab.value(f"{of}.querySelectorAll('button')[2].click()")
        found["open"] = await tab.value(f"document.querySelectorAll('{FIRST} details.example[open]').length")
        found["said"] = tab.said
        return found


def test_examples_can_be_paged_searched_chosen_and_opened(port: int, pages: dict[str, Path]) -> None:
    found = asyncio.run(chosen(port, pages["en"]))
    total = 1 + SHOWN + 7  # right; wrong, and more of them than are shown; each other ending of the first run
    assert found["first page"] == (20, f"20 of {found['all']} examples shown, page 1 of 2")
    assert found["next page"] == found["all"] - 20
    assert found["found"] == (1, "1 of 1 examples shown, page 1 of 1")
    assert found["of a kind"] == found["open"] == 20
    assert found["said"] == []
    assert found["all"] == total


async def sorted_table(port: int, page: Path) -> dict[str, Any]:
    """What a click on the head of a column does, by keyboard."""
    async with opened_tab(port) as tab:
        await tab.visit(page)
        table = "[...document.querySelectorAll('table.sortable')].find(t => t.tBodies[0].rows.length > 4)"
        column = f"[...({table}).tBodies[0].rows].map(row => row.cells[2].textContent)"
        state = f"({table}).tHead.rows[0].cells[2].getAttribute('aria-sort')"
        found: dict[str, Any] = {"before": await tab.value(column)}
        await tab.value(f"({table}).tHead.rows[0].cells[2].querySelector('button').focus()")
        for name in ("once", "twice", "thrice"):
            await tab.press("Enter", 13, "\r")
            found[name] = await tab.value(state), await tab.value(column)
        return found


def test_tables_can_be_sorted_by_keyboard_and_back(port: int, pages: dict[str, Path]) -> None:
    found = asyncio.run(sorted_table(port, pages["en"]))
    shares = [float(each.rstrip("%")) for each in found["once"][1]]
    assert found["once"][0] == "ascending"
    assert shares == sorted(shares) != [float(each.rstrip("%")) for each in found["before"]]
    assert found["twice"] == ("descending", found["once"][1][::-1]) or sorted(found["twice"][1]) == sorted(
        found["before"]
    )
    assert found["twice"][0] == "descending"
    assert found["thrice"] == (None, found["before"])


async def without_script(port: int, page: Path) -> dict[str, Any]:
    """The page where scripts are forbidden."""
    async with opened_tab(port) as tab:
        await tab.ask("Emulation.setScriptExecutionDisabled", value=True)
        await tab.visit(page)
        root = (await tab.ask("DOM.getDocument"))["root"]["nodeId"]
        counts = {}
        for name, selector in (
            ("tools", ".tools"),
            ("examples", "details.example"),
            ("hidden", "[hidden]"),
            ("plots", "svg"),
        ):
            nodes = await tab.ask("DOM.querySelectorAll", nodeId=root, selector=selector)
            counts[name] = len(nodes["nodeIds"])
        return {**counts, "said": tab.said}


def test_without_a_script_the_page_is_whole(port: int, pages: dict[str, Path]) -> None:
    found = asyncio.run(without_script(port, pages["en"]))
    text = pages["en"].read_text(encoding="utf-8")
    assert found["tools"] == found["hidden"] == 0
    assert found["examples"] == text.count('<details class="example">') > 60
    assert found["plots"] > 10


async def as_told(port: int, page: Path) -> list[dict[str, Any]]:
    """The page as a screen reader is told of it."""
    async with opened_tab(port) as tab:
        await tab.visit(page)
        await tab.ask("Accessibility.enable")
        nodes: list[dict[str, Any]] = (await tab.ask("Accessibility.getFullAXTree"))["nodes"]
        known = {node["nodeId"]: node for node in nodes}
        waiting, ordered = [nodes[0]["nodeId"]], []
        while waiting:  # the tree is told level by level, and read branch by branch
            node = known.get(waiting.pop())
            if node is not None:
                ordered.append(node)
                waiting += reversed(node.get("childIds", []))
        return [node for node in ordered if not node.get("ignored")]


def test_a_screen_reader_is_told_of_every_heading_table_and_plot(port: int, pages: dict[str, Path]) -> None:
    nodes = asyncio.run(as_told(port, pages["paper"]))

    def named(role: str) -> list[str]:
        return [
            node.get("name", {}).get("value", "").strip() for node in nodes if node["role"]["value"] == role
        ]

    page = Page(pages["paper"].read_text(encoding="utf-8"))
    written = [html.unescape(text).split() for text in page.headings]
    assert [name.split() for name in named("heading")] == written
    assert len(named("table")) == len(page.of("table"))
    assert all(named("table"))
    assert sorted(named("image") + named("img")) == sorted(str(each["aria-label"]) for each in page.of("svg"))
