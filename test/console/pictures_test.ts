/** Pictures of the console's screens: written to docs/console/ where SEALOOP_WRITE_PICTURES is set. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { approvalCalls } from "../api/_approvals.ts";
import { openPeople } from "../api/_people.ts";
import { openConsole } from "./_console.ts";

const NAMES = [
  "now",
  "approval",
  "group",
  "grants",
  "incidents",
  "incident",
  "governance",
  "setup",
  "you",
] as const;
const pathOf = (name: string) => `docs/console/${name}.png`;

describe("the console's pictures", () => {
  it("are those that its docs show", () => {
    const docs = readFileSync("docs/console.md", "utf8");
    for (const name of NAMES) {
      assert.ok(existsSync(pathOf(name)), name);
      assert.ok(docs.includes(`console/${name}.png`), name);
    }
  });

  it("are written where that is asked for", async function () {
    if (!process.env.SEALOOP_WRITE_PICTURES) return this.skip();
    const people = await openPeople();
    const tab = await openConsole(people);
    const { ask } = approvalCalls(() => people);
    try {
      await tab.page.setViewport({ width: 1000, height: 720 });
      await tab.signIn();
      await people.call("POST", "/v1/itsm/test", "program", {});
      const healed = await people.eventually(async () => {
        const path = "/v1/itsm/incidents/search?query=test-&status=resolved";
        return (await people.call("GET", path, "program")).body.tickets[0]?.ticket_id;
      });
      const { approval_id } = await ask({
        description: "Restart billing",
        action: { command: "restart", service: "billing", drop_cache: true },
      });
      const alike = await Promise.all(
        ["orders", "shop", "search"].map((service) =>
          ask({ description: `Restart ${service}`, action: { command: "restart", service } })
        ),
      );
      await tab.addAuthenticator();
      await tab.open("/console/you", /Enrol a passkey/);
      await tab.press("Enrol a passkey");
      await tab.shows(/never used/);
      const held = await people.call("POST", "/v1/itsm/webhooks", "program", {
        url: "https://hooks.example.com/tickets",
        events: ["ticket.opened"],
      });
      await tab.open(
        `/console/grants?approval=${held.body.governance.approval_id}`,
        /Show what you sign/,
      );
      await tab.press("Show what you sign");
      await tab.shows(/lets run/);
      await tab.press("Grant with your passkey");
      await tab.shows(/in force/);
      const paths: Record<typeof NAMES[number], readonly [string, RegExp]> = {
        now: ["/console", /Restart billing/],
        approval: [`/console/approvals/${approval_id}`, /Exactly what is decided/],
        group: [`/console/approvals?group=${alike[0].group}`, /3 ask for the same/],
        grants: ["/console/grants", /in force/],
        incidents: ["/console/incidents", /Severity/],
        incident: [`/console/incidents/${healed}`, /(\d+) of \1 checked/],
        governance: ["/console/governance", /Last used/],
        setup: ["/console/setup", /of 5 steps/],
        you: ["/console/you", /Passkeys/],
      };
      for (const name of NAMES) {
        const [path, text] = paths[name];
        if (name === "incidents") await tab.signIn("admin");
        await tab.open(path, text);
        await tab.page.screenshot({ path: pathOf(name) as `${string}.png` });
      }
    } finally {
      await tab.close();
      await people.stop();
    }
  });
});
