import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { Page } from "puppeteer-core";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole } from "./_console.ts";

describe("the console", () => {
  let people: People;
  let tab: ConsoleTab;
  before(async () => {
    people = await openPeople();
    tab = await openConsole(people);
    await tab.addAuthenticator();
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });
  const { ask, info } = approvalCalls(() => people);

  /** Goes on with Tab until what is focused has this text. */
  async function tabTo(text: RegExp): Promise<void> {
    for (let n = 0; n < 40; n++) {
      await tab.keys("Tab");
      const focused = await tab.page.evaluate("document.activeElement.textContent");
      if (text.test(String(focused))) return;
    }
    assert.fail(`Tab does not lead to ${text}`);
  }

  it("is used by the keyboard alone, from the sign-in to the approval", async () => {
    await tab.signIn();
    const { approval_id } = await ask({ description: "Drop the old sessions" });
    await tab.shows(/Drop the old sessions/);
    await tab.keys("j", "Enter");
    await tab.shows(/Enrol a passkey to approve/);
    await tabTo(/^Enrol a passkey to approve$/);
    await tab.keys("Enter");
    await tab.shows(/Have two/);
    await tabTo(/^Enrol a passkey$/);
    await tab.keys("Enter");
    await tab.shows(/Approve with your passkey/);
    await tabTo(/^Approve with your passkey$/);
    await tab.keys("Enter");
    await tab.shows(/Approved by ann/);
    assert.equal((await info(approval_id)).status, "approved");
  });

  it("goes through a list by j and k, searches by /, and shows its keys by ?", async () => {
    for (const title of ["First", "Second"]) {
      await people.call("POST", "/v1/itsm/tickets", "program", { title });
    }
    const focused = async () =>
      String(await tab.page.evaluate("document.activeElement.textContent"));
    await tab.open("/console/incidents", /First/);
    await tab.keys("j", "j");
    assert.equal(await focused(), "First");
    await tab.keys("k");
    assert.equal(await focused(), "Second");
    await tab.keys("?");
    await tab.shows(/next entry/);
    await tab.keys("j");
    assert.notEqual(await focused(), "First", "the keys of the page rest behind a dialog");
    await tab.keys("Escape", "/");
    assert.equal(await tab.page.evaluate("document.activeElement.type"), "search");
    await tab.page.keyboard.type("j?/first");
    assert.equal(await tab.page.evaluate("document.activeElement.value"), "j?/first");
  });

  it("is live in more tabs than a browser has connections, as those behind hold none", async () => {
    await tab.signIn();
    const context = tab.page.browserContext();
    const show = (page: Page, isSeen: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${!isSeen}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`,
      );
    const isLive = (page: Page) =>
      page.waitForFunction("/^live$/m.test(document.body.innerText)", { polling: 100 });
    const behind: Page[] = [];
    for (let page = tab.page; behind.length < 11; page = await context.newPage()) {
      if (page !== tab.page) await page.goto(`${people.platform.urls.gateway}/console`);
      await isLive(page);
      await show(page, false);
      behind.push(page);
    }
    const [first, ...others] = behind;
    assert.doesNotMatch(await tab.shows(/\d+ s ago/), /^live$/m, "it claims nothing meanwhile");
    await show(first!, true);
    await isLive(first!);
    for (const page of others) await page.close();
  });

  it("says since when it is not live, and equals a fresh page once the gateway is back", async () => {
    const door = await openDoor(Number(new URL(people.platform.urls.gateway).port));
    try {
      await tab.signIn("ann", `http://localhost:${door.port}`);
      await tab.shows(/^live$/m);
      door.close();
      await tab.shows(/\d+ s ago/);
      const { approval_id } = await ask({ description: "Asked while it was away" });
      door.open();
      const isLive = /^live$[^]*Asked while it was away/m;
      const healed = await tab.shows(isLive);
      await tab.page.reload();
      assert.equal(content(await tab.shows(isLive)), content(healed));
      await people.vote(approval_id, "deny", "bob");
      await tab.shows(/^live$[^]*No approval waits/m);
    } finally {
      await door.stop();
    }
  });
});

/** Returns what a page shows, without how long ago things were. */
const content = (text: string) => text.replace(/\d+ (?:s|min)/g, "…");

/** Opens a port in front of a gateway that can be closed: then connections end, and none is taken. */
async function openDoor(to: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((socket) => {
    sockets.add(socket);
    if (!isOpen) return void socket.destroy();
    const other = connect(to, "localhost");
    sockets.add(other);
    for (const [one, peer] of [[socket, other], [other, socket]] as const) {
      one.on("error", () => {}).on("close", () => peer.destroy());
      one.pipe(peer);
    }
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    close() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    open: () => void (isOpen = true),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
