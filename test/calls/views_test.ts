import assert from "node:assert/strict";
import { Problem } from "../../contract/mod.ts";
import { type IntegrationName, INTEGRATIONS } from "../../domain/mod.ts";
import { openViews, type Probe } from "../../calls/views/mod.ts";
import { listIntegrationHealth, type Store } from "../../store/mod.ts";
import { testStore } from "../_servers.ts";

describe("openViews()", () => {
  let store: Store;
  let close: () => Promise<void>;
  before(async () => {
    ({ store, close } = await testStore("gateway"));
  });
  after(() => close());

  const probes = (own: Partial<Record<IntegrationName, Probe>>) => {
    const fine: Probe = {
      mode: "built_in",
      look: () => Promise.resolve({ status: "ok", detail: "Fine" }),
    };
    const all = INTEGRATIONS.map((name) => [name, own[name] ?? fine]);
    return Object.fromEntries(all) as Record<IntegrationName, Probe>;
  };

  it("isolates probes that hang, fail or are not configured", async () => {
    const views = openViews(
      store.asPlatform(),
      probes({
        policy: { mode: "built_in", look: () => new Promise(() => {}) },
        grc: { mode: "remote", look: () => Promise.reject(new Error("10.1.2.3 password hunter2")) },
        rmm: {
          mode: "remote",
          look: () => Promise.reject(new Problem("Unavailable", "It answered 500")),
        },
        mesh: { mode: "not_configured", detail: "Set SEALOOP_MESH_URL" },
        soar: {
          mode: "built_in",
          look() {
            throw new Error("hunter2");
          },
        },
      }),
    );
    const startedMs = performance.now();
    const all = await views.all();
    assert.ok(performance.now() - startedMs < 4_500, "as long as one time limit");
    assert.deepEqual(all.map(({ integration }) => integration), [...INTEGRATIONS]);
    const told = Object.fromEntries(
      all.map(({ integration, status, detail }) => [integration, `${status}: ${detail}`]),
    );
    assert.deepEqual(told, {
      observability: "ok: Fine",
      policy: "down: No answer within 3000 ms",
      grc: "down: It failed; the log says why",
      rmm: "down: It answered 500",
      mesh: "not_configured: Set SEALOOP_MESH_URL",
      soar: "down: It failed; the log says why",
      rag: "ok: Fine",
      audit: "ok: Fine",
    });
    assert.doesNotMatch(JSON.stringify(all), /hunter2|10\.1\.2\.3/);
  });

  it("probes once for calls within 30 seconds, and keeps the last success and the last failure", async () => {
    let looks = 0;
    let works = true;
    const probe: Probe = {
      mode: "remote",
      look() {
        looks++;
        if (works) return Promise.resolve({ status: "ok", detail: "Fine" });
        return Promise.reject(new Problem("Unavailable", "It answered 502"));
      },
    };
    const open = () => openViews(store.asPlatform(), probes({ rag: probe }));
    const views = open();
    const [first, second] = await Promise.all([views.view("rag"), views.view("rag")]);
    assert.deepEqual(first, second);
    assert.deepEqual(await views.view("rag"), first);
    assert.equal(looks, 1);
    works = false;
    assert.equal((await open().view("rag")).status, "down");
    const health = await listIntegrationHealth(store.asPlatform());
    const { lastOkAt, lastError, lastErrorAt } = health.find(({ integration }) =>
      integration === "rag"
    )!;
    assert.equal(lastError, "It answered 502");
    assert.ok(lastOkAt! < lastErrorAt!);
    assert.ok(!health.some(({ integration }) => integration === "mesh"), "never probed");
  });

  it("answers while the database is away", async () => {
    const away = { execute: () => Promise.reject(new Error("Connection terminated")) };
    const views = openViews(away as never, probes({}));
    assert.equal((await views.view("audit")).status, "ok");
  });
});
