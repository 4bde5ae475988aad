"""The report in a real browser: nothing on its console, no request, enough contrast, usable by keyboard."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from probatum.report.page import make_report
from tests.report.reported import EVERY_ENDING, made_run, right
from tests.report.test_report import HOSTILE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CONTRAST = """
(() => {
  const light = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const of = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
                    return 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b); };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                        if (c !== 'rgba(0, 0, 0, 0)') return c; } return 'rgb(255, 255, 255)'; };
  const low = [];
  for (const e of document.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (['STYLE', 'TITLE', 'title', 'desc'].includes(e.tagName)) continue;
    const s = getComputedStyle(e), a = of(e.namespaceURI.endsWith('svg') ? s.fill : s.color), b = of(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([e.tagName, e.className.toString(), ratio]);
  }
  return JSON.stringify(low);
})()
"""
FACTS = """
JSON.stringify({
  pwned: typeof window.pwned, scripts: document.scripts.length, images: document.images.length,
  title: document.title, headings: document.querySelectorAll('h1').length,
  marks: document.querySelectorAll('mark').length, plots: document.querySelectorAll('svg').length,
  wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  unnamed: [...document.querySelectorAll('svg, [role=region]')].filter(e => !e.getAttribute('aria-label')).length,
  background: getComputedStyle(document.querySelector('pre')).backgroundColor,
})
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two runs, one with hostile outputs."""
    directory = tmp_path_factory.mktemp("page")
    count = len(HOSTILE) + len(EVERY_ENDING)
    hostile = made_run(directory, [*EVERY_ENDING, *HOSTILE], "hostile")
    good = made_run(directory, [right(number) for number in range(count)], "good")
    file = directory / "report.html"
    file.write_text(make_report(hostile, good, examples=30).html(), encoding="utf-8")
    hostile.store.close()
    good.store.close()
    return file


class Tab:
    """One tab over the browser's own debugging protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.number, self.events = socket, 0, list[dict[str, Any]]()

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": params})
        while True:
            message = await self.socket.receive_json(timeout=60)
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    async def value(self, expression: str) -> Any:
        result = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def loaded(self) -> None:
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(await self.socket.receive_json(timeout=60))

    async def press(self, key: str, code: int, text: str = "") -> None:
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **about)


def port_of(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise AssertionError("the browser ended without saying where it listens")


@pytest.fixture(scope="module")
def port(browser: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    command = [
        browser,
        "--headless",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path_factory.mktemp('browser')}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            yield port_of(process)
        finally:
            process.terminate()
            process.communicate()


async def visited(port: int, page: Path) -> dict[str, Any]:
    """What the page is, said and asked for."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
            address = (await answer.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(address, max_msg_size=0) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Log", "Network"):
                await tab.ask(f"{domain}.enable")
            await tab.ask("Page.navigate", url=page.as_uri())
            await tab.loaded()
            found: dict[str, Any] = json.loads(await tab.value(FACTS))
            found["low contrast"] = json.loads(await tab.value(CONTRAST))
            await tab.press("Tab", 9)
            found["first stop"] = await tab.value("document.activeElement.className")
            await tab.value("document.querySelector('details.example summary').focus()")
            await tab.press("Enter", 13, "\r")
            found["opened"] = await tab.value("document.querySelector('details.example').open")
            await tab.value("document.querySelectorAll('details').forEach(one => one.open = true)")
            found["low contrast, all open"] = json.loads(await tab.value(CONTRAST))
            found["said"] = [
                event["params"]
                for event in tab.events
                if event["method"]
                in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
            ]
            found["asked for"] = [
                event["params"]["request"]["url"]
                for event in tab.events
                if event["method"] == "Network.requestWillBeSent"
            ]
            return found


def test_in_a_browser(port: int, page: Path) -> None:
    found = asyncio.run(visited(port, page))
    assert found["said"] == []
    assert [url for url in found["asked for"] if not url.startswith("data:")] == [page.as_uri()]
    assert found["pwned"] == "undefined"
    assert found["scripts"] == found["images"] == found["unnamed"] == 0
    assert found["headings"] == 1
    assert found["plots"] > 5
    assert found["background"] == "rgb(243, 245, 247)"  # the style is applied: the policy lets it through
    assert not found["wide"]
    assert found["low contrast"] == found["low contrast, all open"] == []
    assert found["first stop"] == "skip"
    assert found["opened"] is True
