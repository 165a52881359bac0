/** Starts the page: connects, reads data about the server, and shows the address's view. */
import { API } from "./connection/api.js";
import { ConsumersView } from "./log/consumers-view.js";
import { Drafts } from "./editing/drafts.js";
import { Editing } from "./editing/editing.js";
import { element } from "./shared/dom.js";
import { Feed } from "./connection/feed.js";
import { inNextFrame } from "./shared/frames.js";
import { integer } from "./shared/json.js";
import { LogView } from "./log/log-view.js";
import { Announcer, Notices } from "./shared/notices.js";
import { Outbox } from "./connection/outbox.js";
import { PulseView } from "./pulse/pulse-view.js";
import { Router } from "./router.js";
import { ScreensView } from "./screens/screens-view.js";
import { ShellLine } from "./shell-line.js";
import { StateLine } from "./state-line.js";
import { Streams } from "./connection/streams.js";
import { Token } from "./connection/token.js";
import { TokenForm } from "./connection/token-form.js";
import { UsersView } from "./table/users-view.js";
import { Writes } from "./editing/writes.js";

/** The views of each address. */
const pages = {
  "/": { title: "Users", views: [UsersView, LogView] },
  "/screens": { title: "Screens", views: [ScreensView] },
  "/log": { title: "Log", views: [LogView, ConsumersView] },
  "/pulse": { title: "Pulse", views: [PulseView] },
};

const retryInterval = 2_000;

async function start() {
  const token = new Token();
  const app = { token, api: new API(token), announcer: new Announcer(), feed: new Feed(), drafts: new Drafts() };
  const tokenForm = new TokenForm(token, app.announcer);
  app.notices = new Notices(app.announcer);
  app.writes = new Writes(app.api, app.drafts, app.notices);
  app.editing = new Editing(app);
  document.body.append(app.announcer.element);
  document.getElementById("notices").append(app.notices.element);

  let stateLine = null;
  app.streams = new Streams(token, () => {
    stateLine?.update();
    const { state, token: refused } = app.streams.status;
    if (state === "unauthorized") tokenForm.askOnce(refused);
  });
  await app.streams.start();
  document.addEventListener("token-needed", () => stateLine ?? showStart("lost", "a token is needed"));
  token.changes.add(() => stateLine ?? showStart("connecting", "connecting…"));
  app.about = await readAbout(app.api);
  stateLine = new StateLine(app, app.about.isReadOnly);
  app.outbox = new Outbox(app);
  app.revisionReached = (revision) => revision > stateLine.revision && stateLine.reached(revision);
  app.feed.changes.add((changes) => app.drafts.observeChanges(changes));
  const showRevision = () => {
    document.documentElement.dataset.logRevision = app.feed.log.revision;
    app.revisionReached(app.feed.log.revision);
  };
  app.feed.updates.add(() => inNextFrame(showRevision));
  app.feed.start(app.streams);
  app.shellLine = new ShellLine(app.about.path);
  document.getElementById("footer").append(app.shellLine.element);
  showViews(app);
  showAnyUserInShellLine(app);
}

/** In views without a table, the line for a shell also needs a user. */
async function showAnyUserInShellLine({ api, shellLine }) {
  try {
    const { json } = await api.get("/users?limit=1");
    if (shellLine.element.hidden) shellLine.show(json.get("users").map((user) => user.get("id").source));
  } catch {
    // The line remains hidden until a view shows users.
  }
}

async function readAbout(api) {
  for (;;) {
    try {
      const { json } = await api.get("/about");
      return { path: json.get("path"), isReadOnly: json.get("readOnly") === true, users: integer(json.get("users")),
        replica: json.get("replica") };
    } catch (error) {
      showStart("lost", "not connected", error.message);
      await new Promise((resolve) => setTimeout(resolve, retryInterval));
    }
  }
}

/** Shows the state of the connection before there is a state line. */
function showStart(state, text, reason = "") {
  document.documentElement.dataset.connection = state;
  document.getElementById("connection").textContent = text;
  document.getElementById("state-reason").textContent = reason;
}

function showViews(app) {
  const main = document.getElementById("main");
  let shown = null;
  let views = [];
  const show = (path) => {
    if (path === shown) {
      for (const view of views) view.addressChanged?.();
      return;
    }
    for (const view of views) view.close();
    app.notices.hide();
    const page = pages[path] ?? pages["/"];
    document.title = `${page.title} – UserStore`;
    for (const link of document.querySelectorAll("a[data-view]")) {
      if (link.getAttribute("href") === path) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    main.className = `view-${page.title.toLowerCase()}`;
    views = page.views.map((View) => new View(app));
    main.replaceChildren(...views.map((view) => view.element));
    if (shown !== null) main.focus({ preventScroll: true });
    shown = path;
  };
  app.router = new Router(show);
  show(app.router.path);
}

start().catch((error) => {
  reportError(error);
  const text = `The page cannot start: ${error.message}`;
  document.getElementById("main").replaceChildren(element("p", { class: "empty" }, text));
});
