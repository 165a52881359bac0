"""A headless Chromium whose windows share one browser, as those of a person do.

Nothing sleeps: a test waits for a revision or a state of the page. If $PICTURES names a folder, pictures are saved there.
"""

import atexit
import contextlib
import functools
import os
import pathlib

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support import DEADLINE, Late, TestCase, eventually

__all__ = ["Browser", "BrowserTestCase", "Keys", "Page", "fill"]

ARGUMENTS = [
    "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows", "--force-color-profile=srgb", "--window-size=1280,800", "--lang=en-US",
]


class Browser:
    """A browser; a context manager that ends it."""

    def __init__(self, *arguments):
        options = webdriver.ChromeOptions()
        # It takes half the CPU time of `chromium --headless`. Not Debian's script in /usr/bin: the driver would end the script, and remove
        # the profile while the browser still writes to it.
        options.binary_location = "/usr/lib/chromium/chromium-headless-shell"
        for argument in [*ARGUMENTS, *arguments]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_script_timeout(60)
        self.first = self.driver.current_window_handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.quit()

    def quit(self):
        self.driver.quit()

    def open(self, server, path="/", token=True, ready=True):
        """Opens a page of a server in a window of its own."""
        self.driver.switch_to.new_window("window")
        page = Page(self, self.driver.current_window_handle)
        page.size(1280, 800)
        page.go(server.url + path + (f"#token={server.token}" if token and server.token else ""))
        if ready:
            page.wait_live()
        return page

    def close_pages(self):
        """Closes all windows but the first, which is empty and keeps the browser alive."""
        for handle in self.driver.window_handles:
            if handle != self.first:
                self.driver.switch_to.window(handle)
                # What is typed and not saved would ask whether to leave.
                self.driver.execute_script("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
                self.driver.close()
        self.driver.switch_to.window(self.first)

    def messages(self):
        """What the console has got since the last call, without requests that failed: tests make requests fail."""
        entries = self.driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["source"] != "network"]


class Page:
    """A window with a page of the server."""

    def __init__(self, browser, handle):
        self.browser = browser
        self.driver = browser.driver
        self.handle = handle

    def focus(self):
        if self.driver.current_window_handle != self.handle:
            self.driver.switch_to.window(self.handle)

    def close(self):
        self.focus()
        self.driver.close()
        self.driver.switch_to.window(self.browser.first)

    def go(self, address):
        self.focus()
        self.driver.get(address)

    def back(self):
        """Goes back as the browser's button does, and waits; on a busy machine, `history.back()` in a script did nothing in 2 of 25 runs."""
        self.focus()
        self.driver.back()

    def forward(self):
        self.focus()
        self.driver.forward()

    def run(self, script, *arguments):
        """Runs a script, which returns its value with `return`."""
        self.focus()
        return self.driver.execute_script(script, *arguments)

    def protocol(self, command, **parameters):
        self.focus()
        return self.driver.execute_cdp_cmd(command, parameters)

    def size(self, width, height):
        self.protocol("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.protocol("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, name):
        """Saves a picture if $PICTURES is set."""
        folder = os.environ.get("PICTURES")
        if folder:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.focus()
            self.driver.save_screenshot(str(pathlib.Path(folder) / f"{name}.png"))

    # Waiting

    def wait(self, condition, what=None, within=DEADLINE):
        """Waits until a script is true; returns its value."""
        try:
            return eventually(lambda: self.run(f"return {condition}"), what or condition, within)
        except Late as late:
            state = self.run("return [location.href, document.readyState, document.visibilityState, document.documentElement.dataset.connection, document.body?.innerText]")
            late.add_note(f"the page is {state}")
            raise

    def wait_live(self, within=DEADLINE):
        self.wait("document.documentElement.dataset.connection === 'live'", "the page is live", within)

    def wait_lost(self, within=DEADLINE):
        self.wait("document.documentElement.dataset.connection === 'lost'", "the page says that it is not connected", within)

    def wait_list(self, revision, within=DEADLINE):
        self.wait(f"Number(document.documentElement.dataset.listRevision) >= {revision}", f"the list is at revision {revision}", within)

    def wait_log(self, revision, within=DEADLINE):
        self.wait(f"Number(document.documentElement.dataset.logRevision) >= {revision}", f"the log is at revision {revision}", within)

    def wait_text(self, user, attribute, text, within=DEADLINE):
        eventually(lambda: self.text(user, attribute) == text, f"{attribute} of user {user} is {text!r}", within)

    def wait_saved(self, user, attribute):
        """Waits until a cell has no editor, and no write that the stream has not confirmed."""
        cell = self.selector(user, attribute)
        self.wait(f"document.querySelector({cell!r})?.matches(':not(.editing, .pending)')", f"{attribute} of user {user} is saved")

    # Elements

    @staticmethod
    def selector(user, attribute):
        return f'tr[data-user="{user}"] [data-attribute="{attribute}"]'

    def find(self, selector):
        self.focus()
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        self.focus()
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, user, attribute):
        """The text of a cell, as it is seen; None if there is no such cell."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", self.selector(user, attribute))

    def column(self, attribute):
        return self.run("return [...document.querySelectorAll('tbody [data-attribute=' + JSON.stringify(arguments[0]) + ']')].map((cell) => cell.innerText)", attribute)

    @property
    def users(self):
        """The ids of the rows of the table, in order."""
        return self.run("return [...document.querySelectorAll('tr[data-user]')].map((row) => row.dataset.user)")

    @property
    def state(self):
        return self.run("return document.getElementById('state').innerText")

    @property
    def connection(self):
        return self.run("return document.documentElement.dataset.connection")

    @property
    def active(self):
        """What has the focus: the cell as (user, attribute), or the name of the element."""
        found = self.run(
            "const element = document.activeElement, cell = element.closest('td'); "
            "return cell === element ? [cell.parentElement.dataset.user, cell.dataset.attribute] : element.localName")
        return tuple(found) if isinstance(found, list) else found

    # Actions

    def keys(self, *keys):
        self.focus()
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def chord(self, modifier, key):
        self.focus()
        ActionChains(self.driver, duration=0).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def press(self, selector, text=None):
        """Clicks an element, without moving the pointer, which would hold the rows under it."""
        self.wait(f"document.querySelector({selector!r})", f"there is {selector}")
        pressed = self.run(
            "const found = [...document.querySelectorAll(arguments[0])].find((one) => arguments[1] === null || one.innerText === arguments[1]); "
            "found?.click(); return Boolean(found)", selector, text)
        if not pressed:
            raise AssertionError(f"there is no {selector} with the text {text!r}")

    def point(self, selector):
        """Moves the pointer over an element."""
        ActionChains(self.driver, duration=0).move_to_element(self.find(selector)).perform()

    def unpoint(self):
        """Moves the pointer to the head of the page."""
        self.point("h1")

    def select_cell(self, user, attribute):
        """Gives the focus to a cell."""
        self.wait(f"document.querySelector({self.selector(user, attribute)!r})", f"there is {attribute} of user {user}")
        self.run("document.querySelector(arguments[0]).focus()", self.selector(user, attribute))

    def edit(self, user, attribute, text=None, kind=None):
        """Opens the editor of a cell by the keyboard, and types."""
        self.select_cell(user, attribute)
        self.keys(Keys.ENTER)
        editor = self.selector(user, attribute) + " .editor"
        self.wait(f"document.querySelector({editor!r})?.contains(document.activeElement)", f"{attribute} of user {user} is edited")
        if kind:
            self.run("const select = document.querySelector(arguments[0]); select.focus(); select.value = arguments[1]; select.dispatchEvent(new Event('change'))",
                     editor + " select", kind)
        if text is not None:
            self.type(editor + " .editor-field", text)

    def type(self, selector, text):
        """Replaces the text of a field; the driver's own keys know only a part of Unicode."""
        self.run("const field = document.querySelector(arguments[0]); field.focus(); field.value = arguments[1]; "
                 "field.dispatchEvent(new Event('input', {bubbles: true}))", selector, text)

    def save(self, user, attribute, text, kind=None):
        """Edits a cell and waits until the stream has confirmed it."""
        self.edit(user, attribute, text, kind)
        self.keys(Keys.ENTER)
        self.wait_saved(user, attribute)

    def blur(self):
        self.run("document.activeElement.blur()")

    def close_dialog(self):
        self.run("document.querySelector('dialog[open]')?.close()")

    def time(self):
        """The clock of the page in seconds."""
        return self.run("return Date.now()") / 1000


ends = contextlib.ExitStack()
"""Ends all shared browsers. A worker of pytest-xdist runs no exit functions, so conftest.py ends them there."""
atexit.register(ends.close)


@functools.cache
def shared(*arguments):
    """A browser for all tests of this process that ask for the same arguments; to start one takes as long as a test."""
    browser = Browser(*arguments)
    ends.callback(browser.quit)
    return browser


def fill(server):
    """Adds three users; returns the revision."""
    three = (("NIX", "auburn", 41), ("Zoë", "black", 36), ("Tim", "blond", 17))
    return [server.add(name, hair_color=color, age=age) for name, color, age in three][-1]["revision"]


class BrowserTestCase(TestCase):
    """A test case with a browser, which other test cases use after it; each test opens windows of its own."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.browser = shared(*cls.arguments)

    def setUp(self):
        self.addCleanup(self.browser.close_pages)
        self.browser.messages()

    def assertQuiet(self):
        """Nothing has failed in the page, and the browser has refused nothing."""
        self.assertEqual(self.browser.messages(), [])

    def open(self, server, path="/", **settings):
        return self.browser.open(server, path, **settings)
