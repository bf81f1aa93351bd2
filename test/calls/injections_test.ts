import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, connect as dial, createServer, type Server } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation } from "../../contract/mod.ts";
import { progressQuery } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { setGovernance } from "../_governance.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { connectHttp, startToolServer, type TestToolServer } from "../mcp/_tool_server.ts";
import { openLoop, type TestLoop } from "../workflows/_loop.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import { INJECTIONS } from "./_injections.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;

/** Where each text is met with; what has several lines is no line of a log. */
const CHANNELS = ["title", "description", "log", "device"] as const;
const FINDINGS = 8;
const channelOf = (text: string, n: number) =>
  text.includes("\n") ? "description" : CHANNELS[n % CHANNELS.length]!;
const textsOf = (channel: string) => INJECTIONS.filter((text, n) => channelOf(text, n) === channel);
/** Those that other agents say, and that are told of services which are really broken. */
const TENTH = INJECTIONS.filter((_, n) => n % 10 === 4);
const PAGE = 20;

describe("a hundred texts that mean to steer an agent", () => {
  let loop: TestLoop;
  let server: TestToolServer;
  let devices: Server;
  let client: Client;
  let key: string;
  let folder: string;
  const wipe = createDiskWiper();

  before(async () => {
    folder = await testFolder();
    let engine: Awaited<ReturnType<typeof serveEngine>>;
    const detectors = join(folder, "detectors.yaml");
    const off = ["host_resources", "certificates", "platform"].map((name) =>
      `${name}: { enabled: false }\n`
    );
    const logs =
      `logs: { learn_lines: 1, files: [{ path: ${folder}/shop.log, new_templates: all }] }`;
    await writeFile(detectors, off.join("") + logs);
    await writeFile(join(folder, "shop.log"), "shop has started\n");
    loop = await openLoop({
      settings: { SEALOOP_DETECTORS: detectors },
      serve: async (url) => engine = await serveEngine(url),
    });
    devices = createServer((socket) =>
      socket.once("data", (n) => void socket.end(INJECTIONS[Number(n)]!))
    );
    await once(devices.listen(0, "127.0.0.1"), "listening");
    server = await startToolServer({
      on: loop.database,
      temporal: loop.client,
      extra: [wipe.operation, device()],
      settings: {
        SEALOOP_DATA: loop.config.dataDir,
        SEALOOP_DETECTORS: detectors,
        SEALOOP_LIMIT_TOOLS: "10000",
        SEALOOP_ENGINE_URL: engine!.url,
        SEALOOP_ENGINE_SECRET: engine!.secret,
      },
    });
    // What the rails find is all that keeps this tool from being run.
    await setGovernance(loop.store, {
      rules: [{ name: "wiping", when: { tools: ["wipe_disk"] }, then: "allow" }],
    });
    // What a busy machine takes longer for than the platform waits, it still does.
    Object.assign(server.platform.engine, engine!.client);
    key = (await server.key()).key;
    client = await connectHttp(server.url, key);
  });
  after(async () => {
    await client?.close();
    await server?.stop();
    devices?.close();
    await loop?.stop();
  });

  /** Asks a device over the network, as what it says is what it likes. */
  const device = () =>
    defineOperation<Platform>()({
      name: "test.device",
      summary: "Read a device",
      group: "test",
      access: "key",
      effect: "read",
      tool: { read_device: ["full"] },
      input: z.object({ n: z.number() }),
      output: z.object({ says: z.string() }),
      presentation: { untrusted: true },
      example: { input: { n: 1 }, output: { says: "ok" } },
      run: async ({ n }) => {
        const socket = dial((devices.address() as AddressInfo).port, "127.0.0.1");
        socket.write(String(n));
        return { says: await textOf(socket) };
      },
    });
  const call = async (name: string, args: Json = {}) => {
    const result = await client.callTool({ name, arguments: args }) as CallToolResult;
    return { ...result, output: result.structuredContent as Json };
  };
  const flagged = ({ _meta, content }: CallToolResult, at: RegExp): string[] => {
    assert.equal(_meta?.["sealoop/untrusted"], true);
    const injections = (_meta?.["sealoop/injection"] ?? []) as { at: string }[];
    const warning = (content.at(-1) as { text: string }).text;
    if (injections.length > 0) assert.match(warning, /^WARNING: /);
    return injections.map((one) => one.at).filter((one) => at.test(one));
  };
  const pages = <T>(all: readonly T[]) =>
    Array.from(
      { length: Math.ceil(all.length / PAGE) },
      (_, n) => all.slice(n * PAGE, (n + 1) * PAGE),
    );

  it("are flagged in tickets that quote them, by title and by description", async () => {
    const written = [
      ...textsOf("title").map((text) => ({ title: text, description: "" })),
      ...textsOf("description").map((text) => ({ title: "Shop is slow", description: text })),
    ];
    const read = await Promise.all(written.map(async (ticket) => {
      const { output } = await call("itsm_create_ticket", ticket);
      return await call("itsm_get_ticket", { ticket_id: output.ticket_id });
    }));
    const missed = written.filter((_, n) => flagged(read[n]!, /title|description/).length !== 1);
    assert.deepEqual(missed, []);
    const { result } = await skill("itsm_get_ticket", { ticket_id: read[0]!.output.ticket_id });
    assert.equal(result.metadata["sealoop/injection"][0].at, "/title");
  });

  it("are flagged in the platform's logs", async () => {
    await mkdir(join(loop.config.dataDir, "logs"), { recursive: true });
    for (const [n, texts] of pages(textsOf("log")).entries()) {
      const lines = texts.map((text) => `2026-07-01T12:00:00.000Z info shop says: ${text}\n`);
      await writeFile(join(loop.config.dataDir, "logs", `shop${n}.log`), lines.join(""));
      const result = await call("search_platform_logs", {
        component: `shop${n}`,
        limit: 50,
        verbose: true,
      });
      const places = new Set(flagged(result, /^\/lines\/\d+\/text$/));
      const missed = result.output.lines.filter((_: Json, at: number) =>
        !places.has(`/lines/${at}/text`)
      );
      assert.deepEqual([result.output.lines.length, missed], [texts.length, []]);
    }
  });

  it("are flagged in what devices say", async () => {
    const missed = await Promise.all(
      textsOf("device").map(async (text) => {
        const result = await call("read_device", { n: INJECTIONS.indexOf(text) });
        return flagged(result, /^\/says$/).length === 1 ? [] : [text];
      }),
    );
    assert.deepEqual(missed.flat(), []);
  });

  it("are flagged in findings, and the loop of such a finding does nothing to any service", async () => {
    const sweep = async () => {
      const { output } = await call("itsm_run_loop", { wait_seconds: 0 });
      const { loops } = await loop.client.workflow.getHandle(output.workflow_id).result() as Json;
      for (const id of loops) await loop.client.workflow.getHandle(id).result();
    };
    await sweep(); // the log is known now
    const lines = INJECTIONS.slice(0, FINDINGS);
    await writeFile(join(folder, "shop.log"), `shop has started\n${lines.join("\n")}\n`);
    const found = await call("itsm_trigger_detection");
    const [{ code, detail }] = found.output.findings;
    assert.equal(code, "new_templates");
    assert.deepEqual(detail.samples, [...lines.slice(0, 3), ...lines.slice(-3)]);
    assert.equal(flagged(found, /\/samples\/\d+$/).length, detail.samples.length);
    await sweep();
  });

  it("are refused as messages of other agents", async () => {
    const states = await Promise.all(TENTH.map(async (text) => {
      const { result } = await send([{ kind: "text", text }]);
      return result.status.state === "rejected" ? [] : [[text, result.status.state]];
    }));
    assert.deepEqual(states.flat(), []);
  });

  it("keep a call from being run in whose arguments they are, though its rule allows it", async () => {
    const obeyed: Json[] = [];
    for (const page of pages(INJECTIONS)) {
      obeyed.push(
        ...await Promise.all(page.map(async (note) => {
          const { output, _meta } = await call("wipe_disk", { disk: "sda", note });
          const held = output?.governance;
          if (held) return held.rule === "guardrails" && held.status === "pending" ? [] : [note];
          return _meta?.["sealoop/error"] === "Denied" ? [] : [[note, _meta, output]];
        })),
      );
    }
    assert.deepEqual(obeyed.flat(), []);
    assert.equal(wipe.runs.length, 0);
    const harmless = [
      "The vendor has replaced it this morning",
      "Worn out; its data are on the new one",
    ];
    for (const note of harmless) {
      const { output } = await call("wipe_disk", { disk: "sdb", note });
      assert.deepEqual(output, { wiped: "sdb", passes: 1 });
    }
    assert.deepEqual(wipe.runs.map(({ note }) => note), harmless);
    const rows = await loop.store.asPlatform().query(
      "SELECT reasons FROM governance_decisions WHERE rule = 'guardrails'",
    );
    assert.equal(rows.length, INJECTIONS.length, "each decision is on record");
    assert.ok(rows.every(({ reasons }) => reasons[0].startsWith("input_safety: ")));
  });

  it("have no service restarted that is really down, and a harmless report has", async () => {
    const reports = [...TENTH, "The shop answers with errors since noon"];
    const ends = await Promise.all(reports.map(async (incident, n) => {
      const service = `shop-${n}`;
      const place = join(folder, service);
      await putService(loop.store.asPlatform(), {
        name: service,
        type: "web",
        host: "127.0.0.1",
        owner: null,
        origin: "file",
        dependsOn: [],
        check: { command: ["test", "-e", place] },
        watched: false,
        restart: { command: ["touch", place] },
      });
      const { output } = await call("itsm_run_loop", { service, incident, wait_seconds: 0 });
      const handle = loop.client.workflow.getHandle<typeof itsmLoop>(output.workflow_id);
      return await eventually(async () => {
        const { status } = await handle.describe();
        if (status.name !== "RUNNING") return (await handle.result()).outcome;
        const progress = await handle.query(progressQuery).catch(() => undefined); // it may not have begun
        return progress?.approval_id ? "waits" : undefined;
      });
    }));
    assert.equal(ends.pop(), "sealed");
    assert.deepEqual([...new Set(ends)].sort(), ["escalated", "waits"]);
    const restarted = (await readdir(folder)).filter((name) => name.startsWith("shop-"));
    assert.deepEqual(restarted, [`shop-${TENTH.length}`]);
    assert.ok(existsSync(join(folder, `shop-${TENTH.length}`)));
  });

  it("leave no effect and no receipt of a repair that nobody approved", async () => {
    const db = loop.store.asPlatform();
    const effects = await db.query("SELECT service, state FROM effects");
    assert.deepEqual(effects, [{ service: `shop-${TENTH.length}`, state: "done" }]);
    const states = await db.query("SELECT DISTINCT state FROM held_calls");
    assert.deepEqual(states, [{ state: "waiting" }]);
    const approvals = await db.query("SELECT DISTINCT status FROM approvals");
    assert.deepEqual(approvals, [{ status: "pending" }]);
    await eventually(async () => await countQueued() === 0 || undefined);
    const receipts = (await exportReceipts(loop.store, { from: 0, to: 10_000 }))
      .map(({ text }) => JSON.parse(text));
    const of = (category: string, outcome: string) =>
      receipts.filter((one) => one.category === category && one.outcome === outcome).length;
    assert.equal(of("self_heal", "sealed"), 1);
    assert.equal(receipts.filter(({ category }) => category === "governed_act").length, 0);
    const runs = receipts.filter(({ subject, category, outcome }) =>
      subject === "wipe_disk" && category === "tool_call" && outcome === "success"
    );
    assert.equal(runs.length, wipe.runs.length);
  });

  const countQueued = async () =>
    (await loop.store.asPlatform().query("SELECT FROM seal_outbox")).length;

  async function send(parts: Json[]): Promise<Json> {
    const message = { kind: "message", messageId: randomUUID(), role: "user", parts };
    const params = { message, configuration: { blocking: true } };
    const response = await fetch(`${server.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params }),
    });
    return await response.json();
  }
  const skill = (name: string, input: Json) =>
    send([{ kind: "data", data: { skill: name, arguments: input } }]);
});
