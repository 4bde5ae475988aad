"""A real Chromium over its own debugging protocol, for the tests of pages; no driver is needed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
AXE_PACKAGES = ("axe_playwright_python", "axe_core_python")
"""Packages that carry axe-core's one file; they are not imported."""
SAID = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


def found_browser() -> str:
    """The browser; the test is left out where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    return found


def axe_source() -> str:
    """axe-core: the file that AXE_JS names, or that of an installed package; else the test is left out."""
    if named := os.environ.get("AXE_JS"):
        return Path(named).read_text(encoding="utf-8")
    for name in AXE_PACKAGES:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    pytest.skip("needs axe-core: pip install axe-core-python, or AXE_JS=/path/to/axe.min.js")


class Tab:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.number, self.events = socket, 0, list[dict[str, Any]]()

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        """One command; events that come before its answer are kept."""
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": params})
        while True:
            message = await self.socket.receive_json(timeout=120)
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    async def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives, awaited."""
        result = await self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def visit(self, page: Path) -> None:
        """Goes there, and waits until all is loaded: this page, and not the empty one before it."""
        await self.ask("Page.setLifecycleEventsEnabled", enabled=True)
        loader = (await self.ask("Page.navigate", url=page.as_uri()))["loaderId"]
        while not any(_is_load(event, loader) for event in self.events):
            self.events.append(await self.socket.receive_json(timeout=120))

    async def press(self, key: str, code: int, text: str = "") -> None:
        """A key, down and up."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **about)

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the console was told, errors and all."""
        return [event["params"] for event in self.events if event["method"] in SAID]

    @property
    def asked_for(self) -> list[str]:
        """Addresses that were asked for; those that carry their data in themselves left out."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        addresses = [each["request"]["url"] for each in sent]
        return [address for address in addresses if not address.startswith("data:")]


def _is_load(event: dict[str, Any], loader: str) -> bool:
    params = event.get("params", {})
    return (event["method"], params.get("name"), params.get("loaderId")) == (
        "Page.lifecycleEvent",
        "load",
        loader,
    )


def port_of(process: subprocess.Popen[str]) -> int:
    """Where a browser that was just started listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise AssertionError("the browser ended without saying where it listens")


@contextmanager
def running_browser(profile: Path) -> Iterator[int]:
    """A browser without a window; gives its port."""
    command = [
        found_browser(),
        "--headless",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        "about:blank",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            yield port_of(process)
        finally:
            process.terminate()
            process.communicate()


@asynccontextmanager
async def opened_tab(port: int, *, scheme: str = "light") -> AsyncIterator[Tab]:
    """A new tab for readers who prefer light or dark pages."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
            address = (await answer.json())["webSocketDebuggerUrl"]
        async with session.ws_connect(address, max_msg_size=0) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Log", "Network"):
                await tab.ask(f"{domain}.enable")
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            await tab.ask("Emulation.setEmulatedMedia", features=features)
            yield tab  # it goes with the browser
