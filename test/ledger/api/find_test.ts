import assert from "node:assert/strict";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

const INCIDENT = "INC-00000000000a";
const KEY = "key:00000000000000aa";

interface List {
  readonly total: number | null;
  readonly has_more: boolean;
  readonly next_before: number | null;
  readonly receipts: readonly { readonly receipt_id: string; readonly chain_position: number }[];
}

describe("/api/receipts", () => {
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  before(async () => {
    sealing = await startSealing();
    const requests = [
      { id: "opened", category: "ticket_opened", subject: INCIDENT },
      { id: "asked", category: "approval", details: { deep: [{ ticket_id: INCIDENT }] } },
      { id: "called", category: "tool_call", actor: KEY },
      { id: "quoted", category: "tool_call", details: { text: `about ${INCIDENT}`, 'x"': "y" } },
      { id: "issued", category: "config_change", subject: KEY },
      { id: "healed", category: "self_heal", subject: INCIDENT },
    ];
    for (const request of requests) {
      await sealing.sealer.request(anyRequest(request));
      await sealing.sealer.sealed(request.id);
    }
    ledger = await serveLedger(sealing.database);
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });
  const get = (query: string) => fetch(`${ledger.address}/api/receipts?${query}`);
  const list = async (query: string) => await (await get(query)).json() as List;
  const ids = async (query: string) =>
    (await list(query)).receipts.map(({ receipt_id }) => receipt_id);

  it("finds what names an id anywhere in its public fields, and nothing that only mentions it", async () => {
    assert.deepEqual(await ids(`about=${INCIDENT}`), ["healed", "asked", "opened"]);
    assert.deepEqual(await ids(`about=${KEY}`), ["issued", "called"]);
    assert.deepEqual(await ids("about=INC-ffffffffffff"), []);
  });

  it("finds a category, a kind, a day, and both together", async () => {
    const day = new Date().toISOString().slice(0, 10);
    assert.deepEqual(await ids("category=tool_call"), ["quoted", "called"]);
    assert.deepEqual(await ids("kind=repairs"), ["healed", "opened"]);
    assert.deepEqual(await ids("kind=happened"), ["healed", "asked", "opened"]);
    assert.equal((await list(`day=${day}`)).total, 7); // and the genesis
    assert.deepEqual(await ids(`day=${day}&kind=approvals`), ["asked"]);
    assert.equal((await list(`day=${day}&category=tool_call`)).total, 2);
    assert.deepEqual(await ids("day=2020-02-29"), []);
  });

  it("goes through a list page by page, without gaps", async () => {
    const found: string[] = [];
    let before = "";
    for (let pages = 0; pages < 9; pages++) {
      const { receipts, has_more, next_before } = await list(`about=${INCIDENT}&limit=2${before}`);
      found.push(...receipts.map(({ receipt_id }) => receipt_id));
      assert.equal(next_before, has_more ? receipts.at(-1)!.chain_position : null);
      if (!has_more) break;
      before = `&before=${next_before}`;
    }
    assert.deepEqual(found, ["healed", "asked", "opened"]);
    assert.deepEqual(await ids("limit=2&before=3"), ["asked", "opened"]);
  });

  const REFUSED: Readonly<Record<string, RegExp>> = {
    "about=shop": /about.*INC-.*private/,
    "category=nonsense": /No receipt has this category; there are approval, config_change/,
    "kind=nonsense": /kind/,
    "day=2026-02-30": /Expected a day like/,
    "day=yesterday": /Expected a day like/,
    [`about=${INCIDENT}&day=2026-07-01`]: /Stands alone: leave out day/,
    "category=approval&kind=approvals": /either a kind or a category/,
    "kind=approvals&page=1": /follow `next_before`/,
    "before=-1": /before/,
  };
  for (const [query, message] of Object.entries(REFUSED)) {
    it(`refuses ${query} with what would be right`, async () => {
      const response = await get(query);
      assert.equal(response.status, 422);
      assert.match(JSON.stringify(await response.json()), message);
    });
  }
});
