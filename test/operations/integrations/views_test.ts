import assert from "node:assert/strict";
import { Problem } from "../../../contract/mod.ts";
import {
  type IntegrationName,
  INTEGRATIONS,
  type IntegrationViewer,
} from "../../../contract/domain/mod.ts";
import { openViews, type Probe } from "../../../operations/integrations/views/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { listIntegrationHealth } from "../../../store/platform/mod.ts";
import { testStore } from "../../_servers.ts";

const OPERATOR: IntegrationViewer = { caller: { keyId: "op" }, store: { tenant: "platform" } };

describe("openViews()", () => {
  let store: Store;
  let close: () => Promise<void>;
  before(async () => {
    ({ store, close } = await testStore("gateway"));
  });
  after(() => close());
  const logged: Record<string, unknown>[] = [];
  // deno-lint-ignore no-explicit-any -- the overloads of a logger
  const log: any = { error: (fields: Record<string, unknown>) => logged.push(fields) };

  const probes = (own: Partial<Record<IntegrationName, Probe>>) => {
    const fine: Probe = {
      mode: "built_in",
      look: () => Promise.resolve({ status: "ok", detail: "Fine" }),
    };
    const all = INTEGRATIONS.map((name) => [name, own[name] ?? fine]);
    return Object.fromEntries(all) as Record<IntegrationName, Probe>;
  };

  it("isolates probes that hang, fail or are not configured", async () => {
    let beginLast!: () => void;
    const hasLastBegun = new Promise<void>((resolve) => beginLast = resolve);
    const fine = { status: "ok", detail: "Fine" } as const;
    const views = openViews(
      store.asPlatform(),
      probes({
        // The first ends once the last has begun, as none waits for another.
        observability: { mode: "built_in", look: () => hasLastBegun.then(() => fine) },
        audit: {
          mode: "built_in",
          look() {
            beginLast();
            return Promise.resolve(fine);
          },
        },
        policy: { mode: "built_in", look: () => new Promise(() => {}) },
        grc: {
          mode: "remote",
          look: () => Promise.reject(new Error("10.1.2.3 password=hunter2hunter2")),
        },
        rmm: {
          mode: "remote",
          look: () => Promise.reject(new Problem("Unavailable", "It answered 500")),
        },
        mesh: { mode: "not_configured", detail: "Set SEALOOP_MESH_URL" },
        soar: {
          mode: "built_in",
          look() {
            throw new Error("10.1.2.3 is in use");
          },
        },
      }),
      log,
    );
    const all = await views.all(OPERATOR);
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
    assert.deepEqual(logged.map(({ integration }) => integration).sort(), ["grc", "soar"]);
    const reasons = Object.fromEntries(logged.map((one) => [one.integration, one.reason]));
    assert.deepEqual(reasons, { grc: "[secret]", soar: "10.1.2.3 is in use" });
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
    const open = () => openViews(store.asPlatform(), probes({ rag: probe }), log);
    const views = open();
    const [first, second] = await Promise.all([
      views.view("rag", OPERATOR),
      views.view("rag", OPERATOR),
    ]);
    assert.deepEqual(first, second);
    assert.deepEqual(await views.view("rag", OPERATOR), first);
    assert.equal(looks, 1);
    works = false;
    assert.equal((await open().view("rag", OPERATOR)).status, "down");
    const health = await listIntegrationHealth(store.asPlatform());
    const { lastOkAt, lastError, lastErrorAt } = health.find(({ integration }) =>
      integration === "rag"
    )!;
    assert.equal(lastError, "It answered 502");
    assert.ok(lastOkAt! <= lastErrorAt!, "both may be of one millisecond");
    assert.ok(!health.some(({ integration }) => integration === "mesh"), "never probed");
  });

  it("shows in a view that is cached that the system is not asked any more", async () => {
    let pause: string | undefined;
    const views = openViews(
      store.asPlatform(),
      probes({
        rag: {
          mode: "remote",
          look: () => Promise.resolve({ status: "ok", detail: "Fine" }),
          pause: () => pause,
        },
      }),
      log,
    );
    assert.equal((await views.view("rag", OPERATOR)).status, "ok");
    pause = "Weaviate failed again and again, and is asked again in 30 s";
    const { status, detail } = await views.view("rag", OPERATOR);
    assert.deepEqual([status, detail], ["down", pause]);
    pause = undefined;
    assert.equal((await views.view("rag", OPERATOR)).status, "ok");
  });

  it("shows the operator's systems to the operator's own keys alone", async () => {
    const views = openViews(
      store.asPlatform(),
      probes({
        soar: {
          mode: "remote",
          look: () => Promise.reject(new Problem("Unavailable", "n8n answered 500")),
          pause: () => "n8n is asked again in 30 s",
          builtIn: {
            mode: "built_in",
            look: () => Promise.resolve({ status: "ok", detail: "9 workflow types" }),
          },
        },
      }),
      log,
    );
    const told = async (keyId: string | null, tenant: string) => {
      const { mode, status, detail } = await views.view("soar", {
        caller: { keyId },
        store: { tenant },
      });
      return `${mode} ${status}: ${detail}`;
    };
    assert.equal(await told("op", "platform"), "remote down: n8n is asked again in 30 s");
    for (const [keyId, tenant] of [["op", "acme"], [null, "platform"]] as const) {
      assert.equal(await told(keyId, tenant), "built_in ok: 9 workflow types");
    }
  });

  it("answers while the database is away", async () => {
    const away = { execute: () => Promise.reject(new Error("Connection terminated")) };
    const views = openViews(away as never, probes({}), log);
    assert.equal((await views.view("audit", OPERATOR)).status, "ok");
  });
});
