import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { testFolder } from "../../_run.ts";
import { anyRequest, serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

const SHOP = "SVC-00000000000a";
const MAIL = "SVC-00000000000b";
const [HEALED, OPEN, OTHER] = ["INC-00000000000a", "INC-00000000000b", "INC-00000000000c"];
const TODAY = new Date().toISOString().slice(0, 10);
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

interface Status {
  readonly from: string;
  readonly to: string;
  readonly services: readonly {
    readonly service_id: string;
    readonly name: string;
    readonly published: boolean;
    readonly observed_ms: number;
    readonly up_ms: number;
    readonly uptime: number | null;
    readonly days: readonly { readonly day: string }[];
    readonly incidents: readonly {
      readonly incident_id: string;
      readonly ended_at: string | null;
    }[];
  }[];
}

describe("/api/status", () => {
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;
  before(async () => {
    sealing = await startSealing();
    const OLD = "SVC-00000000000c";
    const named = (id: string, name: string, outcome = "public") => ({
      category: "service_published",
      subject: id,
      outcome,
      details: { service_id: id, name },
    });
    const seen = (id: string, day: string, observed_ms: number, up_ms: number) => ({
      category: "service_observed",
      subject: id,
      details: {
        service_id: id,
        from: `${day}T01:00:00.000Z`,
        to: `${day}T02:00:00.000Z`,
        observed_ms,
        up_ms,
        probes: 60,
        failed: 1,
      },
    });
    const opened = (subject: string, details = {}) => ({
      category: "ticket_opened",
      action: "ticket.open",
      subject,
      details,
    });
    const receipts = [
      named(SHOP, "Shop"),
      named(MAIL, "Post"),
      seen(SHOP, "2020-01-01", 9_000_000, 0),
      seen(SHOP, YESTERDAY, 3_600_000, 3_600_000),
      opened(HEALED, { service_id: SHOP }),
      opened(OTHER),
      { category: "self_heal", subject: HEALED, outcome: "sealed" },
      { category: "ticket_closed", subject: HEALED, outcome: "resolved" },
      opened(OPEN, { service_id: SHOP }),
      { category: "escalation", subject: OPEN, outcome: "escalated" },
      // What a key holder has sealed counts for nothing.
      { ...seen(SHOP, TODAY, 86_400_000, 86_400_000), category: "api_seal" },
      seen(SHOP, TODAY, 3_500_000, 3_400_000),
      named(OLD, "Zoo"),
      seen(OLD, YESTERDAY, 60_000, 60_000),
      named(MAIL, "Mail"),
      named(MAIL, "Mail", "private"),
    ];
    for (const [n, request] of receipts.entries()) {
      await sealing.sealer.request(anyRequest({ id: `status-${n}`, ...request }));
      await sealing.sealer.sealed(`status-${n}`);
    }
    ledger = await serveLedger(sealing.database);
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });
  const read = async () => await (await fetch(`${ledger.address}/api/status`)).json() as Status;

  it("tells uptime and incidents of what is named in public, from receipts alone", async () => {
    const { services, to } = await read();
    assert.equal(to, TODAY);
    const [mail, shop] = services;
    assert.deepEqual([shop!.name, shop!.published, shop!.observed_ms], ["Shop", true, 7_100_000]);
    assert.equal(shop!.uptime, 7_000_000 / 7_100_000);
    assert.deepEqual(shop!.days.map(({ day }) => day), [YESTERDAY, TODAY]);
    assert.deepEqual(
      shop!.incidents.map(({ incident_id, ended_at }) => [incident_id, ended_at !== null]),
      [[OPEN, false], [HEALED, true]],
    );
    // Nothing was seen of it: neither up nor down.
    assert.deepEqual([mail!.name, mail!.published, mail!.uptime], ["Mail", false, null]);
  });

  it("is what the program of the documentation computes from the export", async () => {
    const docs = readFileSync(join(ROOT, "docs", "verify.md"), "utf8");
    const [, program] = /```python\n(# status\.py[^]*?)```/.exec(docs)!;
    const path = join(await testFolder(), "status.py");
    writeFileSync(path, program!);
    const { from, to, services } = await read();
    const lines = await (await fetch(`${ledger.address}/api/export`, {
      headers: { accept: "application/x-ndjson" },
    })).text();
    const printed = await new Promise<string>((resolve, reject) => {
      const child = execFile(
        "python3",
        [path, from, to],
        (error, stdout) => error ? reject(error) : resolve(stdout),
      );
      child.stdin!.end(lines);
    });
    const computed = printed.trim().split("\n").map((line) => JSON.parse(line));
    const shown = services.map(({ service_id, name, observed_ms, up_ms, incidents }) => [
      service_id,
      name,
      observed_ms,
      up_ms,
      Object.fromEntries(incidents.map((one) => [one.incident_id, one.ended_at])),
    ]);
    assert.deepEqual(computed, shown.sort(([a], [b]) => String(a) < String(b) ? -1 : 1));
  });

  it("has a page, which shows no service that was made private again", async () => {
    const page = await (await fetch(`${ledger.address}/status`)).text();
    const text = page.replace(/<[^>]+>/g, " ");
    assert.match(text, /Shop\s+1 open incident\s+Up 98\.591 % of the 118 min/);
    assert.match(text, /Zoo\s+Not looked at lately\s+Up 100 % of the 1 min/);
    assert.doesNotMatch(text, /Mail|Post/);
  });
});
