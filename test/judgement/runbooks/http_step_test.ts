import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { performStep, type StepContext, verifyStep } from "../../../judgement/runbooks/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { createContext, newId, step } from "./_runbook.ts";

const STOPPED_SENDER = fileURLToPath(new URL("_stopped_sender.ts", import.meta.url));

describe("an http step", () => {
  let server: Server;
  let origin: string;
  const requests: IncomingMessage[] = [];
  let respond: (res: ServerResponse) => void;
  before(async () => {
    server = createServer((req, res) => {
      requests.push(req);
      respond(res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requests.length = 0;
    respond = (res) => res.writeHead(204).end();
  });
  after(() => void server.close());
  const sending = (more: object = {}) =>
    step({ http: { url: `${origin}/clear`, ...more }, bounds: { within: "60s" } });

  it("sends its request once, with the id of the act", async () => {
    const context = createContext(await testFolder());
    const id = newId();
    for (const _ of [1, 2]) {
      const outcome = await performStep(sending({ body: { all: true } }), id, context);
      assert.deepEqual(outcome, { state: "done", ok: true, code: "status_204" });
    }
    assert.equal(requests.length, 1);
    const [{ method, headers }] = requests as [IncomingMessage];
    assert.deepEqual(
      [method, headers["idempotency-key"], headers["content-type"]],
      ["POST", id, "application/json"],
    );
  });

  it("is sent by one of two processes, though the other had looked before and was stopped", async function () {
    if (!existsSync("/proc/self/stat")) return this.skip();
    const dataDir = await testFolder();
    const id = newId();
    const child = spawn(
      process.execPath,
      ["--import", "tsx", STOPPED_SENDER, dataDir, id, `${origin}/clear`],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => output += text);
    try {
      while (stateOf(child.pid!) !== "T") await sleep(20);
      const outcome = await performStep(sending(), id, createContext(dataDir));
      assert.deepEqual(outcome, { state: "done", ok: true, code: "status_204" });
      process.kill(child.pid!, "SIGCONT");
      await once(child, "close");
      assert.equal(
        JSON.parse(output).state,
        "unknown",
        "it can't tell whether the other has sent it",
      );
      assert.equal(requests.length, 1);
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("is not ok with an unexpected response, and does not follow redirects", async () => {
    respond = (res) => res.writeHead(307, { location: "/other" }).end();
    const outcome = await performStep(sending(), newId(), createContext(await testFolder()));
    assert.deepEqual(outcome, { state: "done", ok: false, code: "status_307" });
    assert.equal(requests.length, 1);
  });

  it("needs no more of a response than its status", async () => {
    respond = (res) => res.end(Buffer.alloc(2 ** 20));
    const outcome = await performStep(sending(), newId(), createContext(await testFolder()));
    assert.deepEqual(outcome, { state: "done", ok: true, code: "status_200" });
  });

  it("is unknown without a response, and is not sent again", async () => {
    respond = (res) => res.destroy();
    const context = createContext(await testFolder());
    const id = newId();
    assert.equal((await performStep(sending(), id, context)).state, "unknown");
    respond = (res) => res.writeHead(204).end();
    assert.equal((await performStep(sending(), id, context)).state, "unknown");
    assert.equal(requests.length, 1);
  });

  it("is sent again after a crash where the server deduplicates", async () => {
    respond = (res) => res.destroy();
    const context = createContext(await testFolder());
    const id = newId();
    await performStep(sending({ idempotent: true }), id, context);
    respond = (res) => res.writeHead(200).end();
    const { state } = await performStep(sending({ idempotent: true }), id, context);
    assert.deepEqual([state, requests.length], ["done", 2]);
  });

  it("is not done where nobody listens", async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const context = createContext(await testFolder());
    const { state, code } = await performStep(step({ http: { url } }), newId(), context);
    assert.deepEqual([state, code], ["not_done", "econnrefused"]);
  });

  describe("of a service on another host", () => {
    const elsewhere = async (more: Partial<StepContext> = {}) =>
      createContext(await testFolder(), {
        service: { name: "svc", host: "shop.example", check: null, restart: null },
        ...more,
      });

    it("is not sent to an address inside that nothing names", async () => {
      const { state, code } = await performStep(sending(), newId(), await elsewhere());
      assert.deepEqual([state, code, requests.length], ["not_done", "address_not_allowed", 0]);
    });

    it("is sent to the host of its check, of a URL among its values, and to allowed networks", async () => {
      const service = { name: "svc", host: "shop.example", restart: null };
      const contexts: Partial<StepContext>[] = [
        { service: { ...service, check: { http: `${origin}/health` } } },
        { service: { ...service, check: { tcp: origin.replace("http://", "") } } },
        { values: { clear_url: `${origin}/clear` } },
        { allowNetworks: ["127.0.0.0/8"] },
      ];
      for (const more of contexts) {
        const outcome = await performStep(sending(), newId(), await elsewhere(more));
        assert.equal(outcome.code, "status_204", JSON.stringify(more));
      }
    });

    it("is verified by looks that keep to the same addresses", async () => {
      const verified = step({
        wait: { at_least: "1s" },
        verify: { look: { http: `${origin}/health` }, within: "1s" },
      });
      assert.deepEqual(await verifyStep(verified, await elsewhere()), {
        ok: false,
        code: "address_not_allowed",
      });
      const allowed = await elsewhere({ allowNetworks: ["127.0.0.1"] });
      assert.equal((await verifyStep(verified, allowed)).ok, true);
    });
  });
});

/** @see proc_pid_stat(5) */
function stateOf(pid: number): string | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text[text.lastIndexOf(")") + 2];
}
