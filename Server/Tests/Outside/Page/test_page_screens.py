"""The screens, whose listeners have names or none, and the pulse."""

from browser import BrowserTestCase, fill
from support import long, served, sql


class Screens(BrowserTestCase):
    @served()
    def test_listeners_with_names_do_not_pile_up(self, server):
        fill(server)
        page = self.open(server, "/screens?user=2")
        page.wait("document.querySelectorAll('.stack').length === 2")
        for stack in ("#with-names", "#without-names"):
            page.press(f"{stack} [data-testid=push]")
            page.press(f"{stack} [data-testid=push]")
            self.assertEqual(page.run("return document.querySelector(arguments[0]).innerText", f"{stack} [data-testid=listener-count]"), "6")
            page.press(f"{stack} [data-testid=enter-twice]")
        count = "return document.querySelector(arguments[0]).innerText"
        self.assertEqual(page.run(count, "#with-names [data-testid=listener-count]"), "6")
        self.assertEqual(page.run(count, "#without-names [data-testid=listener-count]"), "12")
        page.press("#with-names [data-screen=ThirdScreen] [data-testid=name-button]")
        self.assertEqual(page.run("return document.querySelector('dialog [name=name]').placeholder"), "Zoë", "the form shows the present value")
        page.type("dialog [name=name]", "Chloe")
        page.press("dialog button[type=submit]")
        names = "[...document.querySelectorAll('[data-testid=name-button]')].map((button) => button.innerText).join()"
        page.wait(f"{names} === 'Chloe,Chloe,Chloe,Chloe,Chloe,Chloe'")
        self.assertEqual(page.run("return document.querySelectorAll('#with-names .times').length"), 0)
        page.wait("[...document.querySelectorAll('#without-names .times')].some((times) => times.innerText.includes('called 2 times'))")
        sql(server.database, "UPDATE users SET hair_color = '#c0c0c0' WHERE id = 2")
        page.wait("[...document.querySelectorAll('.screen-body')].every((body) => body.style.backgroundColor === 'rgb(192, 192, 192)')")
        self.assertQuiet()

    @served()
    def test_push_and_pop(self, server):
        fill(server)
        page = self.open(server, "/screens")
        page.wait("document.querySelectorAll('.stack').length === 2")
        opened = "return [...document.querySelectorAll('#with-names .screen')].map((screen) => screen.dataset.open).join()"
        self.assertEqual(page.run(opened), "true,false,false")
        page.press("#with-names [data-testid=push]")
        self.assertEqual(page.run(opened), "true,true,false")
        page.press("#with-names [data-testid=pop]")
        self.assertEqual(page.run(opened), "true,false,false")
        page.press("#with-names [data-testid=push]")
        self.assertEqual(page.run("return document.querySelector('#with-names [data-testid=listener-count]').innerText"), "4")


@long
class Pulse(BrowserTestCase):
    @served()
    def test_the_figures_come(self, server):
        fill(server)
        page = self.open(server, "/pulse")
        page.wait("document.getElementById('server-to-window').innerText.endsWith(' ms')")
        server.patch(1, name="Chloe")
        page.wait("document.getElementById('commit-to-sent').innerText.endsWith(' ms')")
        page.wait("[...document.querySelectorAll('.bar')].some((bar) => Number(bar.getAttribute('height')) > 0)")
