import assert from "node:assert/strict";
import { contentWidth, findBarriers, textOf, usePages } from "./_pages.ts";
import { isLookedAt } from "../../_size.ts";

const INCIDENT = "INC-0000000000bb";
const APPROVAL = "APR-0000000000bb";

describe("the page of an incident", () => {
  const pages = usePages();
  const text = (selector: string) => textOf(pages.tab.page, selector);
  const path = `/incidents/${INCIDENT}`;
  before(async () => {
    const about = { approval_id: APPROVAL, ticket_id: INCIDENT, needed: 1 };
    const receipts = [
      {
        id: "b1",
        category: "ticket_opened",
        action: "ticket.open",
        details: { check: "http", code: "refused" },
      },
      {
        id: "b2",
        category: "guardrail_verdict",
        outcome: "needs_approval",
        details: { freeze: true },
      },
      {
        id: "b3",
        category: "approval",
        action: "approval.requested",
        subject: APPROVAL,
        details: about,
      },
      {
        id: "b4",
        category: "approval",
        action: "approval.approved",
        outcome: "approved",
        subject: APPROVAL,
        details: { ...about, approvers: ["voter:1"] },
      },
      {
        id: "b5",
        category: "repair_intended",
        action: "restart",
        details: { effect_id: "e", step: 1, steps: 1 },
      },
      {
        id: "b6",
        category: "self_heal",
        outcome: "sealed",
        details: {
          effect: "done",
          steps: [{ effect_id: "e", kind: "restart", state: "done" }],
          verified: { healthy: true },
          timeline: [{ step: "detect", from_ms: 0, to_ms: 100 }, {
            step: "repair",
            from_ms: 100,
            to_ms: 2100,
          }],
        },
      },
    ];
    for (const one of receipts) await pages.seal({ subject: INCIDENT, ...one });
    await pages.seal({
      id: "b7",
      category: "api_seal",
      subject: INCIDENT,
      action: "<b>forged</b>",
    });
  });

  it("tells it in sentences that this browser has checked, each with its receipt", async () => {
    assert.equal(await pages.open(path), "All receipts hold");
    assert.match(
      await text(".summary"),
      /^An HTTP check found a fault \(refused\).* → it needed approval: changes were frozen → approved by one person → restarted once, and found healthy 2\.1 s after/,
    );
    const story = await text("#story");
    assert.match(story, /Detect\s*100 ms\s*Repair\s*2\.0 s/);
    assert.match(story, /Named elsewhere[^]*A key holder had a statement of their own sealed/);
    assert.ok(await pages.tab.page.$(`#story a[href="/receipt/b4"]`));
    assert.ok(await pages.tab.page.$(`#story a[href="/approvals/${APPROVAL}"]`));
    assert.equal((await pages.tab.page.$$("#story li.pass")).length, 7);
    pages.assertQuiet();
  });

  it("marks a receipt that was changed on the way, and leaves it out of the line at the top", async () => {
    pages.proxy.change = (path, text) =>
      path.startsWith("/api/export")
        ? text.replace(`"action":"approval.approved"`, `"action":"approval.denied"`)
        : text;
    assert.equal(await pages.open(path, pages.proxy.url), "Not valid");
    assert.match(await text("#story li.fail"), /✕\s*not valid/);
    assert.doesNotMatch(await text(".summary"), /denied|approved by/);
  });

  it("tells an approval, too, and can be read without scripts", async () => {
    await pages.tab.page.setJavaScriptEnabled(false);
    await pages.tab.page.goto(`${pages.address}/approvals/${APPROVAL}`);
    assert.match(await text(".summary"), /^A person was asked to approve → approved by one person/);
    assert.match(await text("#checks"), /Not checked[^]*Scripts are disabled/);
  });

  it("says that no receipt names an id", async () => {
    const response = await fetch(`${pages.address}/incidents/INC-ffffffffffff`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /No receipt names INC-ffffffffffff/);
    assert.equal((await fetch(`${pages.address}/incidents/shop`)).status, 404);
  });

  it("has no accessibility problem, light and dark, at any width", async () => {
    const { page } = pages.tab;
    for (const [row, scheme] of ["light", "dark"].entries()) {
      for (const [column, width] of [1400, 768, 360].entries()) {
        if (!isLookedAt(row, column)) continue;
        await page.setViewport({ width, height: 800 });
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        await pages.open(path);
        assert.deepEqual(await findBarriers(page), [], `${scheme}, ${width} px`);
        assert.ok(await contentWidth(page) <= width, `scrolls sideways at ${width} px`);
        await page.goto(`${pages.address}/status`);
        assert.deepEqual(await findBarriers(page), [], `status, ${scheme}, ${width} px`);
        assert.ok(await contentWidth(page) <= width, `the status scrolls sideways at ${width} px`);
      }
    }
  });
});
