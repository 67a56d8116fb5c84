"""A headless Chromium, told what to do by its own protocol for debugging.

python browser.py ADDRESS FILE.png [SECONDS]     a picture of a page after so many seconds
"""

import base64
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = "--headless=new --no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader --remote-debugging-port=0"


def program():
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    def __init__(self, address, width=1000, height=600):
        from websockets.sync.client import connect

        self.folder = tempfile.mkdtemp()
        command = [program(), *OPTIONS.split(), f"--window-size={width},{height}", f"--user-data-dir={self.folder}"]
        self.process = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket, self.calls = None, 0
        try:
            port = until(self._port, 60)
            self.socket = connect(until(lambda: self._page(port), 60), max_size=None)
        except BaseException:
            self.close()
            raise

    def _port(self):
        file = pathlib.Path(self.folder, "DevToolsActivePort")
        return file.read_text().split()[0] if file.exists() and file.read_text().strip() else None

    def _page(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10) as answer:
            return next((page["webSocketDebuggerUrl"] for page in json.load(answer) if page["type"] == "page"), None)

    def call(self, method, **parameters):
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == self.calls:
                return answer["result"]

    def screenshot(self):
        """A PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            number = ord(key.upper())
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number)
            time.sleep(0.3)

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def until(what, seconds, pause=0.1):
    """The first answer of `what` that counts as true."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"nothing within {seconds} s"
        time.sleep(pause)
    return found


def main(address, file, seconds=20):
    from PIL import Image

    with Browser(address, 1000, 560) as browser:
        time.sleep(float(seconds))
        Image.open(io.BytesIO(browser.screenshot())).convert("RGB").quantize(128).save(file, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
