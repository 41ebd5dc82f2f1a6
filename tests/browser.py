"""A headless Chromium, driven over chromedriver's HTTP interface: no more than the tests of pages need."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
KEYS = {"left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010"}


class Browser:
    """One window. ``with Browser() as page: page.open(path); page.run("return 1 + 1")``."""

    def __enter__(self) -> Browser:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._driver = subprocess.Popen([str(DRIVER), f"--port={port}"], stdout=subprocess.DEVNULL)
        self._url = f"http://127.0.0.1:{port}"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        options = {"binary": CHROMIUM, "args": flags, "perfLoggingPrefs": {"enableNetwork": True}}
        asked = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        deadline = time.monotonic() + 60
        while True:
            try:
                made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": asked}})
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline or self._driver.poll() is not None:
                    self._driver.kill()
                    raise
                time.sleep(0.1)
        self._url += f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(20)

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def _command(self, name: str, **params: Any) -> Any:
        """Run a command of Chromium's DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": params})

    def open(self, path: Path, width: int = 1280, height: int = 800) -> None:
        # By the device, not the window: a window cannot be as narrow as a telephone.
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._command("Emulation.setDeviceMetricsOverride", **size)
        self._command("Emulation.setFocusEmulationEnabled", enabled=True)  # keys reach the page whatever has the focus
        self._call("POST", "/frame", {"id": None})
        self._call("POST", "/url", {"url": Path(path).resolve().as_uri()})
        self._command("Page.bringToFront")
        # Chromium drops keys that come before a page has been painted.
        frames = (
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))"
        )
        self.run_async(frames)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a piece of JavaScript returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str) -> Any:
        """The value that a piece of JavaScript gives to its last argument, a function."""
        return self._call("POST", "/execute/async", {"script": script, "args": []})

    def busy_seconds(self) -> float:
        """Processor time that the page's thread has used: scripts, styles, layout and painting."""
        self._command("Performance.enable", timeDomain="threadTicks")
        return {m["name"]: m["value"] for m in self._command("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def settle(self, script: str, expected: Any) -> Any:
        """Return the value of a script once it is as expected, or after ten seconds; keys take effect later."""
        deadline = time.monotonic() + 10
        while (found := self.run(script)) != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        return self.run(script) if found == expected else found

    def press(self, *names: str) -> None:
        """Press keys as a user does, wherever the focus is."""
        for name in names:
            strokes = [{"type": t, "value": KEYS[name]} for t in ("keyDown", "keyUp")]
            self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def enter_frame(self, index: int = 0) -> None:
        """Look inside a frame, until the next page is opened."""
        self._call("POST", "/frame", {"id": index})

    def screenshot(self, path: Path) -> None:
        """The whole page, however long."""
        shot = {"format": "png", "captureBeyondViewport": True}
        made = self._command("Page.captureScreenshot", **shot)
        Path(path).write_bytes(base64.b64decode(made["data"]))

    def errors(self) -> list[str]:
        """What the console complained about since last asked."""
        return [e["message"] for e in self._call("POST", "/se/log", {"type": "browser"}) if e["level"] != "INFO"]

    def requests(self) -> list[str]:
        """Every address asked for since last asked."""
        events = [json.loads(e["message"])["message"] for e in self._call("POST", "/se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
