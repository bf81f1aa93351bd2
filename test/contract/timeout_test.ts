import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { whileCollectingGarbage } from "../_garbage.ts";

const TIMEOUT_MS = 300;
const MAX_WAIT_MS = 30_000;

/** Returns the reason of an aborted signal; "never" where it does not abort in time. */
async function abortReason(signal: AbortSignal): Promise<unknown> {
  const done = new AbortController();
  const late = sleep(MAX_WAIT_MS, "never", { signal: done.signal }).catch(() => undefined);
  const reason = new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
  const first = await Promise.race([reason, late]);
  done.abort();
  return first;
}

describe("createTimeoutSignal()", () => {
  it("aborts with a TimeoutError that names the time", async () => {
    const reason = await abortReason(createTimeoutSignal(TIMEOUT_MS)) as DOMException;
    assert.deepEqual([reason.name, reason.message], ["TimeoutError", "Not done within 300 ms"]);
  });

  it("aborts a combined signal although only that one is referenced", async () => {
    const { signal } = new AbortController();
    const reason = await whileCollectingGarbage(() => abortReason(AbortSignal.any([createTimeoutSignal(TIMEOUT_MS), signal])));
    assert.equal((reason as Error).name, "TimeoutError");
  });

  it("ends a fetch before the head and within the body", async () => {
    const server = createServer(({ url }, response) => {
      if (url === "/body") response.writeHead(200).write("a");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { signal } = new AbortController();
    const fetched = async (path: string) => {
      const late = AbortSignal.any([createTimeoutSignal(TIMEOUT_MS), signal]);
      return await (await fetch(`http://127.0.0.1:${port}${path}`, { signal: late })).text();
    };
    try {
      for (const path of ["/head", "/body"]) {
        await assert.rejects(whileCollectingGarbage(() => fetched(path)), { name: "TimeoutError" });
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
