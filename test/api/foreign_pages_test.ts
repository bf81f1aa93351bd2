import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { newPage } from "../_browser.ts";
import { serveLedger } from "../ledger/_ledger.ts";
import { openConnection } from "../runtime/web/_socket.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

const WAIT = { timeout: 120_000 };
const FORM = (action: string, type: string) =>
  `<form method="post" action="${action}" enctype="${type}"><input name='{"a":"' value='"}'><button>Send</button></form>`;

describe("pages of other origins", () => {
  let gateway: TestGateway;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  let foreign: Server;
  let foreignUrl: string;
  let page = "";
  before(async () => {
    gateway = await startGateway();
    ledger = await serveLedger(gateway);
    foreign = createServer((_, res) => res.setHeader("content-type", "text/html").end(page));
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`;
  });
  after(async () => {
    foreign.close();
    await ledger.stop();
    await gateway.stop();
  });

  /** Sends the form of a page as a person does. @returns status of the answer */
  async function sendForm(url: string, html?: string): Promise<number> {
    const tab = await newPage();
    try {
      await tab.page.goto(url, WAIT);
      if (html) await tab.page.$eval("body", (body, html) => void (body.innerHTML = html), html);
      const [answer] = await Promise.all([
        tab.page.waitForNavigation(WAIT),
        tab.page.click("button"),
      ]);
      return answer!.status();
    } finally {
      await tab.close();
    }
  }

  it("can't post to the gateway, whatever type the form's body has", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      page = FORM(`${gateway.url}/v1/itsm/detect`, type);
      assert.equal(await sendForm(foreignUrl), 403, type);
    }
    page = `<meta name="referrer" content="no-referrer">${
      FORM(`${gateway.url}/unsubscribe/x`, "text/plain")
    }`;
    assert.equal(await sendForm(foreignUrl), 403, "Origin: null");
  });

  it("leave the button of a mail's link, which is the gateway's own page, as it was", async () => {
    const own = '<form method="post"><button>Unsubscribe</button></form>';
    assert.equal(await sendForm(`${gateway.url}/unsubscribe/unknown`, own), 404, "an unknown link");
  });

  it("can read the ledger, and send reads to the gateway", async () => {
    page = "<p>a page</p>";
    const tab = await newPage();
    await tab.page.goto(foreignUrl, WAIT);
    const read = (url: string, mode: "cors" | "no-cors") =>
      tab.page.evaluate(async (url, mode) => (await fetch(url, { mode })).status, url, mode);
    assert.equal(await read(`${ledger.address}/openapi.json`, "cors"), 200);
    assert.equal(await read(`${ledger.address}/api/health`, "cors"), 200);
    assert.equal(await read(`${gateway.url}/schemas/services.json`, "cors"), 200);
    assert.equal(await read(`${gateway.url}/health`, "no-cors"), 0, "sent, and not shown to it");
    await tab.close();
  });

  it("reach neither server by a name of theirs that resolves to this machine", async () => {
    for (const { address } of [{ address: gateway.url }, ledger]) {
      const connection = await openConnection(Number(new URL(address).port));
      connection.write("GET /health HTTP/1.1\r\nhost: rebound.example\r\n\r\n");
      const { status, body } = await connection.answer();
      assert.equal(status, 403);
      assert.match(JSON.parse(body).detail, /^Cannot serve this host/);
      connection.close();
    }
  });
});
