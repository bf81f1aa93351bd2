import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ensureRelay } from "../../runtime/temporal/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole, SCHEMES, WIDTHS } from "./_console.ts";
import { isLookedAt } from "../_size.ts";

describe("the console's page of the setup", () => {
  let people: People;
  let tab: ConsoleTab;
  /** Receives what channels are told. */
  let receiver: Server;
  const received: { readonly path: string; readonly body: string }[] = [];
  before(async () => {
    receiver = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += chunk;
      received.push({ path: req.url!, body });
      res.writeHead(req.url === "/gone" ? 404 : 200).end("{}");
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    people = await openPeople();
    await ensureRelay(people.loop.client);
    tab = await openConsole(people);
    await tab.signIn("admin");
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
    receiver?.close();
  });

  it("runs a drill, and shows what was healed as its proof", async () => {
    await tab.open("/console/setup", /0 of 5 steps/);
    await tab.press("Run a drill");
    await tab.shows(/INC-[0-9a-f]{12} was healed after \d/);
    await tab.shows(/1 of 5 steps/);
  });

  it("sends a test message over the chosen channel, and shows as its proof that it was taken", async () => {
    await tab.open("/console/setup", /Name one in sealoop\.comms\.yaml/);
    const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const channels = {
      gone: { webhook: { url: `${origin}/gone` } },
      hook: { webhook: { url: `${origin}/hook` } },
      phone: { ntfy: { url: `${origin}/our-topic` } },
    };
    await writeFile(
      join(people.loop.config.dataDir, "sealoop.comms.yaml"),
      JSON.stringify({ platform: { channels } }),
    );
    const to = (path: string) =>
      people.eventually(() => Promise.resolve(received.find((one) => one.path === path)));
    await tab.open("/console/setup", /Send a test message/);
    await tab.press("Send a test message"); // this person may not approve what is told to others
    await tab.shows(/The message waits for a person who may approve: APR-/);

    await tab.addAuthenticator();
    await tab.signIn("ann");
    await tab.open("/console/you", /Enrol a passkey/);
    await tab.press("Enrol a passkey");
    await tab.shows(/ · enrolled /);
    const choose = (name: string) => tab.page.select("select[aria-label=Channel]", name);
    const send = async () => {
      await tab.press("Send a test message");
      await tab.shows(/Your passkey decides about this call/);
      await tab.press("Sign with your passkey");
    };
    await tab.open("/console/setup", /Send a test message/);
    await send(); // over the first one, which refuses it
    await to("/gone");
    await tab.shows(/Have people told over a channel not yet/);

    await choose("phone");
    await send();
    assert.match((await to("/")).body, /A test from the console: this channel works\./);
    await tab.shows(/Have people told over a channel done\s+phone has taken MSG-\S+,/);
    await tab.shows(/3 of 5 steps/);

    await choose("hook");
    await send();
    assert.match((await to("/hook")).body, /A test from the console: this channel works\./);
    await tab.shows(/hook has taken MSG-/);
    await tab.signIn("admin");
  });

  it("gives an agent's settings once, and shows its first call as the proof", async () => {
    await tab.open("/console/setup", /Connect an AI agent/);
    await tab.press("Issue a key for an agent");
    const text = await tab.shows(/"Authorization": "Bearer slp_partner_/);
    assert.match(text, /:8081\/mcp"/);
    const agent = await people.agent();
    await agent.callTool({ name: "itsm_list_tickets", arguments: {} });
    await tab.open("/console/setup", /agent called itsm_list_tickets/);
    assert.doesNotMatch(await tab.shows(/Connect an AI agent/), /slp_partner_/);
  });

  it("shows the platform's parts, integrations and flags", async () => {
    const text = await tab.open("/console/setup", /Flags[^]*read_only/);
    assert.match(text, /postgresql is well/);
    assert.match(text, /Resolved incidents/);
    assert.match(text, /Integrations/);
  });

  for (const [row, scheme] of SCHEMES.entries()) {
    it(`has no barriers, and fits, ${scheme}`, async () => {
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const [column, width] of WIDTHS.entries()) {
        if (!isLookedAt(row, column)) continue;
        await tab.page.setViewport({ width, height: 800 });
        await tab.open("/console/setup", /read_only/);
        assert.deepEqual(await tab.barriers(), [], `at ${width}`);
      }
    });
  }
});
