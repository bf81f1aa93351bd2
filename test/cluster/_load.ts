/** Load on a cluster through its proxy: calls that seal, calls of tools, and loops whose ends are waited for. */
import { setTimeout as sleep } from "node:timers/promises";

/** What became of the load. */
interface LoadResult {
  readonly calls: number;
  /** Each call that was not answered as it should be, with the reason. */
  readonly failures: readonly string[];
  readonly loops: number;
  /** Results of loops that did not end sealed. */
  readonly unsealed: readonly string[];
  /** Longest time of a call that waits for nothing, milliseconds. */
  readonly slowestMs: number;
}

/** A running load. */
export interface Load {
  /** Starts no more, and waits for what has begun. */
  end(): Promise<LoadResult>;
}

/** Address and key of the load. */
export interface LoadTarget {
  readonly gateway: string;
  readonly key: string;
  /** Absent: all calls are over REST. */
  readonly tools?: { readonly url: string; readonly key: string };
}

/** Calls under way at most. */
const MAX_OPEN = 128;
/** Time after which what failed is tried again. */
const RETRY_MS = 500;

/**
 * Begins calls at a rate: of tasks over REST, which seal receipts, and each fourth of a tool. Beside them, as many loops as are
 * wanted run at each time.
 */
export function startLoad(
  { gateway, key, tools }: LoadTarget,
  { callsPerSecond, loops }: { readonly callsPerSecond: number; readonly loops: number },
): Load {
  const failures: string[] = [];
  const unsealed: string[] = [];
  const open = new Set<Promise<void>>();
  let [calls, ended, slowestMs, isEnding] = [0, 0, 0, false];

  async function call(
    url: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>>,
  ) {
    calls++;
    const response = await fetch(url, {
      method: body ? "POST" : "GET",
      headers: { "content-type": "application/json", ...headers },
      ...body && { body: JSON.stringify(body) },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 300)}`);
    return text;
  }
  const rest = (path: string, body?: object) => call(gateway + path, body, { "x-api-key": key });
  const callTool = ({ url, key }: NonNullable<LoadTarget["tools"]>, name: string, args: object) =>
    call(`${url}/mcp`, {
      jsonrpc: "2.0",
      id: calls,
      method: "tools/call",
      params: { name, arguments: args },
    }, { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" });

  /** Does work, and notes its failure. @returns undefined: it failed */
  async function note<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { message, cause } = error as Error;
      failures.push(`${what}: ${message} ${cause instanceof Error ? cause.message : ""}`);
      return undefined;
    }
  }

  async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
    const startedMs = performance.now();
    await note(what, work);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }

  async function begin(n: number): Promise<void> {
    if (tools && n % 4 === 0) {
      return await timed("tool", async () => {
        const answer = await callTool(tools, "itsm_list_tickets", { limit: 1 });
        if (!answer.includes('"result"')) throw new Error(answer.slice(0, 300));
      });
    }
    await timed("call", () => rest("/v1/tasks", { title: `Task ${n}` }));
  }

  /** Runs loops one after the other. What can't be begun, or asked for, is tried again. */
  async function runLoops(): Promise<void> {
    while (!isEnding) {
      const begun = await note("loop", () => rest("/v1/itsm/test", {}));
      if (begun === undefined) {
        await sleep(RETRY_MS);
        continue;
      }
      const { workflow_id } = JSON.parse(begun);
      for (;;) {
        const answer = await note("result", () => rest(`/v1/workflows/${workflow_id}/result`));
        if (answer === undefined) await sleep(RETRY_MS);
        const result = JSON.parse(answer ?? "{}");
        if (result.status === undefined || result.status === "RUNNING") continue;
        ended++;
        if (result.result?.outcome !== "sealed") unsealed.push(JSON.stringify(result));
        break;
      }
    }
  }

  async function beginCalls(): Promise<void> {
    for (let n = 0; !isEnding; n++) {
      await sleep(1_000 / callsPerSecond);
      if (open.size >= MAX_OPEN) continue;
      const one = begin(n).finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.all(open);
  }

  const running = Promise.all([beginCalls(), ...Array.from({ length: loops }, runLoops)]);
  return {
    async end() {
      isEnding = true;
      await running;
      return { calls, failures, loops: ended, unsealed, slowestMs };
    },
  };
}
