import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { collecting } from "../_garbage.ts";

const FIRES_MS = 300;
const PATIENCE_MS = 30_000;

/** Whether it fires at all. */
async function fired(signal: AbortSignal): Promise<unknown> {
  const done = new AbortController();
  const late = sleep(PATIENCE_MS, "never", { signal: done.signal }).catch(() => undefined);
  const reason = new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
  const first = await Promise.race([reason, late]);
  done.abort();
  return first;
}

describe("timeoutSignal()", () => {
  it("fires with a TimeoutError that says how long it was", async () => {
    const reason = await fired(createTimeoutSignal(FIRES_MS)) as DOMException;
    assert.deepEqual([reason.name, reason.message], ["TimeoutError", "Not done within 300 ms"]);
  });

  it("fires through another signal that is made of it, which alone is known, whatever is collected", async () => {
    const { signal } = new AbortController();
    const reason = await collecting(() => fired(AbortSignal.any([createTimeoutSignal(FIRES_MS), signal])));
    assert.equal((reason as Error).name, "TimeoutError");
  });

  it("ends what is fetched, before its head and within its body", async () => {
    const server = createServer(({ url }, response) => {
      if (url === "/body") response.writeHead(200).write("a");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { signal } = new AbortController();
    const fetched = async (path: string) => {
      const late = AbortSignal.any([createTimeoutSignal(FIRES_MS), signal]);
      return await (await fetch(`http://127.0.0.1:${port}${path}`, { signal: late })).text();
    };
    try {
      for (const path of ["/head", "/body"]) {
        await assert.rejects(collecting(() => fetched(path)), { name: "TimeoutError" });
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
