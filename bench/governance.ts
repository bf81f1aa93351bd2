/**
 * The cost of having a tool call on record, milliseconds, one call at a time: of its receipt, and for a call that changes
 * something of the decision before it. The baseline is the same call through the same stages with neither written.
 *
 * PostgreSQL, with fsync, is a process of its own. No sequencer runs.
 */
import { createInvoke, type Platform } from "../calls/mod.ts";
import type { Operation } from "../contract/mod.ts";
import { startToolServer } from "../test/mcp/_tool_server.ts";
import { emptyTool } from "./_bench_tools.ts";
import { type Figure, measureInTurns, quantile } from "./_figures.ts";
import { rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(7);
const CALLS = scaled(300);

/** Measures a call that reads and one that writes. */
export async function* run(): AsyncGenerator<Figure> {
  const server = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "1000000000" } });
  const { platform } = server;
  const unsealed: Platform = {
    ...platform,
    sealer: { ...platform.sealer, request: () => Promise.resolve({ id: "none" }) },
  };
  const credential = (await server.key()).key;
  try {
    for (
      const [name, effect] of [["read, sealed", "read"], [
        "write, decided and sealed",
        "write",
      ]] as const
    ) {
      const times = await measureInTurns(ROUNDS, {
        baseline: medianOfCalls(unsealed, emptyTool("read"), credential),
        platform: medianOfCalls(platform, emptyTool(effect), credential),
      });
      yield {
        label: `${name}, one at a time, ms`,
        ...times,
        baselineLabel: "neither decided nor sealed",
        goal: "< 3 ms more",
      };
    }
  } finally {
    await server.stop();
  }
}

/** Returns a function that measures the median time of a call, milliseconds. */
function medianOfCalls(
  platform: Platform,
  operation: Operation<Platform>,
  credential: string,
): () => Promise<number> {
  const invoke = createInvoke(platform);
  return async () => {
    const times: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const request = {
        door: "mcp",
        as: operation.effect,
        requestId: String(n),
        credential,
        input: {},
        address: "127.0.0.1",
        signal: new AbortController().signal,
      } as const;
      times.push(await timeMs(() => invoke(operation, request)));
    }
    return quantile(times, 0.5);
  };
}
