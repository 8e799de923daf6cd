"""Controls a headless Chromium through the WebDriver protocol of Debian's chromium-driver, for tests of the report."""

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # key of an element in the standard


def found():
    return all(shutil.which(program) for program in ("chromium", "chromedriver"))


class Browser:
    def __init__(self, address, session):
        self.address = f"{address}/session/{session}"

    def run(self, script, *arguments):
        """Runs a script in the page, and returns its value."""
        return _ask(f"{self.address}/execute/sync", {"script": script, "args": arguments})

    def open(self, path):
        _ask(f"{self.address}/url", {"url": path.resolve().as_uri()})

    def devtools(self, command, **parameters):
        return _ask(f"{self.address}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height, mobile=False):
        scale = 2 if mobile else 1
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def colour_scheme(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def keys(self, text):
        """Types into the focused element."""
        [element] = self.run("return [document.activeElement]")
        _ask(f"{self.address}/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, key):
        """Presses a key without clicking or scrolling."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        _ask(f"{self.address}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def hover(self, selector):
        [element] = self.run("return [document.querySelector(arguments[0])]", selector)
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": element}
        _ask(f"{self.address}/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def console(self):
        """Returns the messages of the console since the last call."""
        return [entry["message"] for entry in _ask(f"{self.address}/se/log", {"type": "browser"})]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot")["data"]))


def _ask(address, content=None, method="POST"):
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(json.load(error)["value"]["message"]) from error


@contextlib.contextmanager
def browser():
    """Starts a browser with a new profile, and removes both afterwards."""
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, driver:
        try:
            address = f"http://127.0.0.1:{_port(driver)}"
            options = {"args": [*FLAGS, f"--user-data-dir={profile}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = _ask(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            try:
                yield Browser(address, session)
            finally:
                _ask(f"{address}/session/{session}", method="DELETE")
        finally:
            driver.terminate()


def _port(driver):
    for line in driver.stdout:
        if "successfully on port" in line:
            return int(line.rstrip(".\n").split()[-1])
    raise RuntimeError("chromedriver does not say its port")
