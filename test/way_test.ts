import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { Client as TemporalClient, Connection } from "@temporalio/client";
import { ROOT } from "../config.ts";
import { STEPS } from "../contract/domain/mod.ts";
import { platformSettings, startPlatform, type TestPlatform } from "./_platform.ts";
import { applySettings, type Block, readBlocks, toPattern } from "./_readme.ts";
import { skipWithoutMedia } from "./integrations/media/_media.ts";
import { freePort, testFolder } from "./_run.ts";
import { describeMetrics, metricsSettings } from "./runtime/_platform_metrics.ts";
import { ensureSecondsLeftInDay, eventually } from "./_time.ts";

/** A body of the gateway or the public ledger. */
type Body = Record<string, unknown> & { result?: Record<string, unknown> };

const A2A_TOKEN = "a-shared-token";
/** Scene of a film that is made in seconds. */
const SHORT = '{"heading":"The end","text":"All is well."}';
/** A line of progress. */
const PROGRESS_LINE = /^\d\/\d .*\n/m;

describe("a platform started by npm start", () => {
  let platform: TestPlatform;
  let settings: Record<string, string>;
  let adminKey: string;
  let receiptId: string;
  let ticketId: string;

  before(async () => {
    const data = join(await testFolder(), "data");
    settings = {
      ...await platformSettings(data),
      ...await metricsSettings(),
      SEALOOP_LIMIT_FREE: "20",
      SEALOOP_A2A_TOKEN: A2A_TOKEN,
      RECEIVER_PORT: String(await freePort()),
      SHOP_PORT: String(await freePort()),
    };
    platform = startPlatform(settings);
    await platform.until(/sealoop is ready/);
    adminKey = readFileSync(join(data, "admin.key"), "utf8").trim();
    assert.equal(statSync(join(data, "admin.key")).mode & 0o777, 0o600);
  });
  after(async () => {
    await platform.end();
    // The reader's own service is one that stays.
    await fetch(`http://127.0.0.1:${settings.SHOP_PORT}/break`).catch(() => {});
  });

  const gateway = () => `http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}`;
  const ledger = () => `http://127.0.0.1:${settings.SEALOOP_LEDGER_PORT}`;

  async function call(
    method: string,
    path: string,
    { key = adminKey, body }: { key?: string; body?: unknown } = {},
  ) {
    const response = await fetch(gateway() + path, {
      method,
      headers: {
        ...(key ? { "x-api-key": key } : {}),
        ...(body ? { "content-type": "application/json" } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: await response.json() as Body,
    };
  }

  /** Waits for the end of a run, as long as a busy machine takes. */
  const endOf = (workflowId: unknown) =>
    eventually(async () => {
      const { body } = await call("GET", `/v1/workflows/${workflowId}/result?timeout_seconds=60`);
      return body.result ? body : undefined;
    });

  it("heals and seals a test incident over REST", async () => {
    const started = await call("POST", "/v1/itsm/test", { body: { scenario: "crash" } });
    assert.equal(started.status, 200);
    const result = (await endOf(started.body.workflow_id)).result as {
      outcome: string;
      steps: { step: string }[];
      ticket_id: string;
      receipt_id: string;
    };
    const timeline = await call("GET", `/v1/itsm/tickets/${result.ticket_id}/timeline`);
    assert.equal(result.outcome, "sealed", JSON.stringify(timeline.body));
    assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
    receiptId = result.receipt_id;
    ticketId = result.ticket_id;
    const ticket = await call("GET", `/v1/itsm/tickets/${result.ticket_id}`);
    assert.equal(ticket.body.status, "resolved");
    assert.equal((ticket.body.receipt as Body).id, receiptId);
    const verified = await call("GET", `/v1/itsm/tickets/${result.ticket_id}/verify`);
    assert.equal(verified.body.verified, true);
    assert.equal(statSync(join(settings.SEALOOP_DATA!, "ledger.key")).mode & 0o777, 0o600);
  });

  it("shows the six steps of an incident in Temporal, found by its receipt", async () => {
    const connection = await Connection.connect({
      address: `127.0.0.1:${settings.SEALOOP_TEMPORAL_PORT}`,
    });
    const client = new TemporalClient({ connection });
    const run = await eventually(async () => { // Temporal's lists lag behind
      const { body } = await call("GET", "/v1/workflows?type=itsmLoop&limit=1");
      const [newest] = body.workflows as {
        workflow_id: string;
        search_attributes: Record<string, string>;
      }[];
      return newest?.search_attributes.SealoopReceipt === receiptId ? newest : undefined;
    });
    const { events } = await client.workflow.getHandle(run.workflow_id).fetchHistory();
    const activities = events!.flatMap((e) =>
      e.activityTaskScheduledEventAttributes?.activityType?.name ?? []
    );
    const looks = activities.filter((name) => name === "observe").length;
    assert.equal(activities.length - looks, STEPS.length);
    assert.ok(looks > 0, activities.join());
    await connection.close();
  });

  it("verifies the receipt at the public ledger, by id and by a prefix of its hash", async () => {
    const answer = async (path: string) => await (await fetch(ledger() + path)).json() as Body;
    const { found, verified, receipt } = await answer(`/api/verify/${receiptId}`);
    assert.deepEqual({ found, verified }, { found: true, verified: true });
    const byHash = await answer(
      `/api/receipt/${String((receipt as Body).sha256).slice(0, 12).toUpperCase()}`,
    );
    assert.equal((byHash.receipt as Body).receipt_id, receiptId);
    assert.deepEqual(await answer("/api/verify/ffffffffffff"), { found: false, receipt: null });
    assert.equal((await answer("/api/chain")).chain_intact, true);
    assert.equal((await answer("/api/stats")).self_heals, 1);
    assert.equal((await answer("/api/health")).status, "ok");
    assert.ok(Number((await answer("/api/receipts?limit=1")).total) > 0);
  });

  it("verifies the whole ledger with the Python program", function () {
    skipWithoutCryptography(this);
    const { status, stdout } = spawnSync("python3", [
      join(ROOT, "ledger", "verify_ledger.py"),
      ledger(),
    ], {
      encoding: "utf8",
    });
    assert.match(stdout, /^\d+ receipts, 0 problems/);
    assert.equal(status, 0);
  });

  it("heals and seals a test incident over MCP, and seals each call", async () => {
    const url = new URL(`http://127.0.0.1:${settings.SEALOOP_MCP_PORT}/sse`);
    const headers = { authorization: `Bearer ${adminKey}` };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new SSEClientTransport(url, {
        requestInit: { headers },
        eventSourceInit: {
          fetch: (to, init) => fetch(to, { ...init, headers: { ...init?.headers, ...headers } }),
        },
      }),
    );
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "itsm_run_test"));
    const started = await client.callTool({
      name: "itsm_run_test",
      arguments: { scenario: "wrong_answers" },
    });
    const { workflow_id } = started.structuredContent as { workflow_id: string };
    const body = await endOf(workflow_id);
    assert.equal(body.result?.outcome, "sealed");
    const { structuredContent, _meta } = await client.callTool({
      name: "ledger.verify_receipt",
      arguments: { receipt_id: body.result?.receipt_id },
    });
    const { verified, receipt } = structuredContent as Body & { receipt: Body };
    assert.equal(verified, true);
    assert.deepEqual([receipt.category, receipt.outcome], ["self_heal", "sealed"]);
    assert.ok(_meta?.receipt_id);
    await client.close();
  });

  it("seals an event of a caller and returns its state", async () => {
    const sealed = await call("POST", "/api/v1/receipts/seal", {
      body: { service: "billing", event: "backup", status: "complete", details: { files: 12 } },
    });
    assert.equal(sealed.body.ok, true);
    const { body } = await call("GET", `/api/v1/receipts/seal/${sealed.body.receipt_id}`);
    assert.equal(body.state, "sealed");
    assert.equal(body.sha256, sealed.body.sha256);
  });

  it("seals an event once, finds it by the caller's id, and refuses content that can't be sealed", async () => {
    const event = { service: "billing", event: "backup", status: "complete" };
    const post = (more: object) =>
      call("POST", "/api/v1/receipts/seal", { body: { ...event, ...more } });
    const once = await post({ request_id: "backup-1" });
    assert.equal((await post({ request_id: "backup-1" })).body.receipt_id, once.body.receipt_id);
    assert.equal((await post({ request_id: "backup-1", status: "failed" })).status, 409);
    const { body: found } = await call("GET", "/api/v1/receipts/seal/backup-1");
    assert.deepEqual([found.state, found.receipt_id], ["sealed", once.body.receipt_id]);
    const deep = JSON.parse(`${'{"a":'.repeat(66)}1${"}".repeat(66)}`);
    for (const details of [deep, { text: "x".repeat(300_000) }]) {
      const { status, body } = await post({ details });
      const { detail: [wrong] } = body as unknown as { detail: { loc: string[] }[] };
      assert.deepEqual([status, wrong?.loc], [422, ["body", "details"]]);
    }
    assert.equal((await call("GET", "/api/v1/receipts/seal/none")).status, 404);
  });

  it("escalates a report that names no known service", async () => {
    const started = await call("POST", "/v1/itsm/loop", {
      body: { incident: "the coffee machine is cold" },
    });
    const { result } = await endOf(started.body.workflow_id);
    assert.equal(result?.outcome, "escalated");
  });

  it("accepts messages of other agents and answers with their workflows", async () => {
    for (const route of ["receive", "dispatch"]) {
      const parts = [{ kind: "text", text: "Is the gateway down?" }];
      const response = await fetch(`${gateway()}/api/v1/a2a/${route}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-a2a-token": A2A_TOKEN },
        body: JSON.stringify({ messageId: "m-1", parts }),
      });
      const { workflow_id, run_id } = await response.json() as Record<string, string>;
      assert.deepEqual([response.status, typeof run_id], [202, "string"]);
      const body = await endOf(workflow_id);
      assert.deepEqual([body.status, body.run_id], ["COMPLETED", run_id]);
    }
  });

  it("joins the running loop of the same report", async () => {
    let floor = 0;
    await eventually(async () => {
      const report = { body: { incident: `nobody can print on floor ${++floor}` } };
      const [first, second] = await Promise.all([
        call("POST", "/v1/itsm/loop", report),
        call("POST", "/v1/itsm/loop", report),
      ]);
      assert.ok(first.body.run_id);
      // On a busy machine the loop of the first may have ended before the second call comes.
      return first.body.run_id === second.body.run_id || undefined;
    });
  });

  /** Runs the commands of a session in one shell, and compares their output with the one that is shown below each. */
  async function printsAsShown(session: readonly Block[]): Promise<void> {
    const commands = session.filter(({ language }) => language === "sh");
    const outputs = session.filter(({ language }) => language === "");
    assert.equal(commands.length, outputs.length);
    const parts = (await runInShell(commands)).split("\n====\n");
    outputs.forEach(({ text }, n) => {
      // Which steps are reported depends on how fast they are.
      const [shown, printed] = [text, parts[n] ?? ""].map((one) => one.split(PROGRESS_LINE));
      assert.match(printed!.join(""), toPattern(shown!.join("")));
      assert.equal(printed!.length > 1, shown!.length > 1);
    });
  }

  /** Runs commands in one shell. @returns what they print, with a line of its own between them */
  async function runInShell(commands: readonly Block[]): Promise<string> {
    const script = commands.map(({ text }) => applySettings(text, settings)).join(
      "\necho; echo ====\n",
    );
    const options = { cwd: ROOT, env: { ...process.env, ...settings } };
    return (await promisify(execFile)("sh", ["-eu", "-c", script], options)).stdout;
  }

  it("starts as the README shows, and serves its pages", async () => {
    await platform.until(/Logs .*\n/);
    const transcript = readBlocks("Two commands").at(-1)!;
    const printed = transcript.text.replace("$ npm start\n", "");
    const [servers = "", rest = ""] = applySettings(printed, settings).split("…\n");
    // The servers start in any order.
    for (const part of [...servers.trim().split("\n"), rest]) {
      assert.match(platform.output(), toPattern(part));
    }
    for (const path of ["/docs", "/redoc", "/redoc/redoc.standalone.js", "/openapi.json"]) {
      assert.equal((await fetch(gateway() + path)).status, 200, path);
    }
  });

  it("starts a service of the reader's own, heals it, and asks about it, as the README shows", async () => {
    const [define, breaks, terminal] = readBlocks("A service of yours, broken and healed");
    const [breakFrozen, ...decide] = readBlocks("A repair that waits for you");
    const lines = terminal!.text.trim().split("\n").map((line) => toPattern(line).source);
    try {
      await runInShell([define!]);
      await platform.until(new RegExp(lines.slice(0, 3).join("[^]*")));
      await runInShell([breaks!]);
      await platform.until(new RegExp(lines.join("[^]*")));
      await runInShell([breakFrozen!]);
      await printsAsShown(decide);
    } finally { // or no repair of the tests below is allowed
      await endFreeze();
      await writeFile(join(settings.SEALOOP_DATA!, "sealoop.services.yaml"), "services: []\n");
    }
  });

  it("shows strangers that the chain holds, as the README shows", async function () {
    skipWithoutCryptography(this);
    await printsAsShown(readBlocks("The ledger"));
  });

  it("prints what the session over REST shows", async function () {
    skipWithoutCryptography(this);
    await printsAsShown(readBlocks("A session", "docs/rest.md"));
  });

  it("tells of a repair that waits as the session over REST shows, and runs it once it is approved", async () => {
    const [hook, ask, told, terminal, ...rest] = readBlocks(
      "A repair that waits for you",
      "docs/rest.md",
    );
    const begin = { ...ask!, text: [definitions(), hook!.text, ask!.text].join("\n") };
    try {
      await printsAsShown([begin, told!, ...rest]);
      assert.match(platform.output(), toPattern(terminal!.text));
    } finally {
      await endFreeze();
    }
  });

  it("has a device run what is approved with a person's own key, as its page shows", async () => {
    const [install, ...rest] = readBlocks("A session", "docs/devices.md");
    const end = "trap 'kill $! 2> /dev/null || true' EXIT"; // the agent, where something fails
    const begin = { ...install!, text: [end, definitions(), install!.text].join("\n") };
    await printsAsShown([begin, ...rest]);
  });

  it("publishes an article, a film and speech, as their page shows", async function () {
    await skipWithoutMedia(this);
    const result = `RESULT='{"ticket_id":"${ticketId}"}'`;
    // A film of the whole article takes minutes, and is tested elsewhere.
    const [write, ...rest] = readBlocks("A session", "docs/articles.md").map((block) => ({
      ...block,
      text: block.text
        .replace(
          '\\"article_id\\":\\"$ARTICLE\\"',
          `\\"scenes\\":[${SHORT.replaceAll('"', '\\"')}]`,
        )
        .replace(`"article_id":"'"$ARTICLE"'"`, '"title":"Short","text":"All is well."'),
    }));
    const begin = { ...write!, text: [definitions(), result, write!.text].join("\n") };
    await printsAsShown([begin, ...rest]);
  });

  /** Returns what the session over REST defines for those that go on in its shell. */
  function definitions(): string {
    const [first] = readBlocks("A session", "docs/rest.md");
    return first!.text.split("\n").filter((line) => /^(field\(\)|KEY=)/.test(line)).join("\n");
  }

  async function endFreeze(): Promise<void> {
    await writeFile(join(settings.SEALOOP_DATA!, "sealoop.policy.yaml"), "{}\n");
    await eventually(async () => !(await isFrozen()) || undefined);
  }

  async function isFrozen(): Promise<boolean> {
    const { status, body } = await call("POST", "/v1/validate", {
      body: { incident: "The queue is full", action: { description: "Restart the worker" } },
    });
    assert.equal(status, 200);
    return JSON.stringify(body).includes("frozen");
  }

  for (const [page, name] of [["docs/mcp.md", "agent.mjs"], ["docs/a2a.md", "a2a.mjs"]] as const) {
    it(`prints what the session of ${page} shows: a test incident, and a call that a person allows`, async () => {
      const folder = await testFolder();
      await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
      const agent = join(folder, name);
      const [program, ...session] = readBlocks("A session", page);
      assert.equal(program!.language, "js");
      await writeFile(agent, applySettings(program!.text, settings));
      await printsAsShown(
        session.map((one) => ({
          ...one,
          text: one.text.replaceAll(`node ${name}`, `node ${agent}`),
        })),
      );
    });
  }

  it("keeps what it has written from the other accounts of the machine", () => {
    const data = settings.SEALOOP_DATA!;
    const names = readdirSync(data);
    for (const name of ["effects", "processes", "logs", "temporal"]) {
      assert.ok(names.includes(name));
    }
    const open = names.filter((name) => lstatSync(join(data, name)).mode & 0o077);
    // Public keys and statements, and the site of articles.
    const shared = ["articles", "checkpoint", "ledger.key.recovery", "ledger.root"];
    // The commands of the README and of the sessions have written them.
    const ofSession = ["sealoop.policy.yaml", "sealoop.services.yaml", "shop.mjs", "told.json"];
    assert.deepEqual(open.filter((name) => ![...shared, ...ofSession].includes(name)), []);
  });

  it("issues keys that work within their tier until they are revoked", async () => {
    const { body: issued } = await call("POST", "/v1/keys/generate", {
      body: { tenant: "acme", tier: "partner" },
    });
    const key = String(issued.api_key);
    assert.match(key, /^slp_partner_/);
    assert.equal((await call("GET", "/v1/itsm/incidents", { key })).status, 200);
    const refused = await call("POST", "/v1/keys/generate", {
      key,
      body: { tenant: "x", tier: "free" },
    });
    assert.equal(refused.status, 403);
    assert.equal(
      (await call("POST", "/v1/keys/revoke", { body: { key_id: issued.key_id } })).status,
      200,
    );
    assert.equal((await call("GET", "/v1/itsm/incidents", { key })).status, 401);
    assert.equal((await call("GET", "/v1/health", { key: "slp_free_nonsense" })).status, 401);
  });

  it("allows exactly as many calls as the limit", async () => {
    await ensureSecondsLeftInDay(60);
    const { body } = await call("POST", "/v1/keys/generate", {
      body: { tenant: "busy", tier: "free" },
    });
    const key = String(body.api_key);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => call("GET", "/v1/ledger", { key })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 20);
    const refused = answers.find(({ status }) => status === 429)!;
    assert.deepEqual(refused.body, { detail: "Rate limit exceeded (20/day)" });
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
  });

  it("names what is wrong with an input, and logs no key", async () => {
    const bad = await call("POST", "/v1/itsm/test", { body: { scenario: "flood" } });
    assert.equal(bad.status, 422);
    assert.deepEqual((bad.body.detail as Body[])[0]?.loc, ["body", "scenario"]);
    const unknown = await call("POST", "/v1/itsm/test", { body: { scenari: "crash" } });
    assert.match(JSON.stringify(unknown.body), /scenario/);
    assert.equal((await call("GET", "/nothing")).status, 404);
    const method = await call("DELETE", "/v1/ledger");
    assert.equal(method.status, 405);
    assert.match(method.headers.get("allow") ?? "", /GET/);
    const missing = await call("GET", "/v1/receipt/0000000000000000");
    assert.deepEqual([missing.status, missing.body.receipt_id], [404, "0000000000000000"]);
    assert.equal((await call("GET", "/v1/receipt/00")).status, 422);
    const large = await fetch(`${gateway()}/v1/itsm/test`, {
      method: "POST",
      headers: { "x-api-key": adminKey, "content-type": "application/json" },
      body: JSON.stringify({ scenario: "x".repeat(1024 * 1024) }),
    });
    assert.equal(large.status, 413);
    const log = readFileSync(join(settings.SEALOOP_DATA!, "logs", "gateway.log"), "utf8");
    assert.ok(!log.includes(adminKey));
  });

  describeMetrics(() => settings);
});

function skipWithoutCryptography(test: Mocha.Context): void {
  if (spawnSync("python3", ["-c", "import cryptography"]).status === 0) return;
  console.log("      needs python3 with the package cryptography");
  test.skip();
}
