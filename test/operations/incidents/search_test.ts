import assert from "node:assert/strict";
import { asSuperuser } from "../../_superuser.ts";
import { startGateway, type TestGateway } from "../../api/_gateway.ts";

const COUNT = 10_000;
const PAGE = 50;

/** Tickets of the same second, every third, so that ids decide; the words of a few are their own. */
const ADD = `
  INSERT INTO tickets (id, title, description, severity, status, phase, service, category, requested_by, opened_at)
  SELECT 'INC-' || lpad(n::text, 12, '0'),
    CASE WHEN n % 1000 = 7 THEN 'The 100% gauge_of the boiler sticks' ELSE 'shop fails its http check' END,
    repeat('It gives no answer. ', 20),
    (ARRAY['critical', 'high', 'medium', 'low'])[n % 4 + 1], CASE WHEN n % 2 = 0 THEN 'open' ELSE 'resolved' END,
    'ticketed', 'service-' || n % 5, 'network', 'test', timestamptz '2026-07-01' + (n / 3) * interval '1 minute'
  FROM generate_series(1, ${COUNT}) n`;

describe("tickets.search", () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_PARTNER: "1000000" } });
    key = await gateway.key();
    await asSuperuser(gateway.platform.store).execute(ADD);
    await asSuperuser(gateway.platform.store).execute("ANALYZE tickets");
  });
  after(() => gateway.stop());

  async function search(fields: Record<string, string>) {
    const { status, body } = await gateway.call(
      key,
      "GET",
      `/v1/itsm/incidents/search?${new URLSearchParams({ limit: String(PAGE), ...fields })}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body as {
      tickets: { ticket_id: string; opened_at: string; title: string }[];
      older: string | null;
      newer: string | null;
    };
  }

  it("goes through all tickets a page at a time, each once, and back again", async () => {
    const there: string[][] = [];
    for (let older: string | null = ""; older !== null;) {
      const page = await search({ limit: "200", ...(older ? { older_than: older } : {}) });
      assert.equal(page.newer === null, there.length === 0);
      there.push(page.tickets.map(({ ticket_id }) => ticket_id));
      older = page.older;
    }
    const all = there.flat();
    assert.deepEqual([all.length, new Set(all).size], [COUNT, COUNT]);
    assert.deepEqual(all, [...all].sort().reverse(), "newest first, ids where times are equal");
    const back = await search({ limit: "200", newer_than: there[2]![0]! });
    assert.deepEqual(back.tickets.map(({ ticket_id }) => ticket_id), there[1]);
    const first = await search({ limit: "200", newer_than: there[1]![0]! });
    assert.deepEqual([first.newer, first.older], [null, there[0]!.at(-1)]);
  });

  it("finds by words of title, description, service and id, whatever marks they have", async () => {
    for (const query of ["BOILER", "100%", "gauge_of sticks", "boiler answer service-2"]) {
      assert.equal((await search({ query })).tickets.length, COUNT / 1000, query);
    }
    assert.deepEqual((await search({ query: "boiler_" })).tickets, []);
    assert.equal((await search({ query: "inc-000000004711" })).tickets.length, 1);
  });

  it("keeps to its filters while it goes on", async () => {
    const filter = { status: "open", severity: "medium", service: "service-1", limit: "10" };
    const first = await search({
      ...filter,
      since: "2026-07-01T00:20:00Z",
      until: "2026-07-01T03:00:00Z",
    });
    assert.ok(first.tickets.length > 5);
    for (const { opened_at } of first.tickets) assert.match(opened_at, /^2026-07-01T0[012]/);
    const second = await search({ ...filter, older_than: (await search(filter)).older! });
    assert.equal(second.tickets.length, 10);
  });

  it("refuses to go on from a ticket that is not there", async () => {
    const path = "/v1/itsm/incidents/search?older_than=INC-ffffffffffff";
    assert.equal((await gateway.call(key, "GET", path)).status, 404);
  });

  it("shows nothing of other organizations", async () => {
    const other = await gateway.key({ tenant: "elsewhere" });
    const { body } = await gateway.call(other, "GET", "/v1/itsm/incidents/search");
    assert.deepEqual(body, { tickets: [], older: null, newer: null });
  });
});
