"""A browser without a window, asked over a pipe by the DevTools protocol: nothing but Python's own library."""

import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """Headless Chromium with one page; `with Browser() as browser`."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="swizproof_webpage_")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def descriptors():  # the browser reads from 3 and writes to 4
            os.dup2(os.dup(to_browser), 3), os.dup2(os.dup(from_browser), 4)
            os.set_inheritable(3, True), os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.buffer, self.count, self.events = b"", 0, []
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", session=None, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands), os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        while b"\0" not in self.buffer:
            block = os.read(self.answers, 1 << 16)
            if not block:
                raise RuntimeError("the browser has ended")
            self.buffer += block
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session="page", **parameters):
        """One command of the protocol, and its result. Events that come meanwhile are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session == "page":
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") != self.count:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def open(self, address):
        """Loads a page and waits until it is there."""
        for url in ("about:blank", address):  # else another # of the same page would load nothing
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
                self.events.append(self._read())

    def run(self, function, *arguments):
        """What a function of JavaScript returns for these values; a promise is waited for."""
        source = f"({function})({', '.join(json.dumps(a) for a in arguments)})"
        result = self.call("Runtime.evaluate", expression=source, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def loaded(self):
        """The addresses that the page has requested, except its own and those that it has made itself."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("blob:", "data:"))]

    def complaints(self):
        """Errors of the console and uncaught exceptions."""
        return [e for e in self.events if e.get("method") == "Runtime.exceptionThrown"
                or (e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")]
