/**
 * What a call of a tool pays for being on record, in milliseconds, one at a time: its receipt, and where it changes
 * something the decision before it too. The baseline is the same call through the same gates, with nothing written.
 *
 * PostgreSQL, with fsync, is a process of its own; the sequencer does not run.
 */
import type { Invoke, Operation } from "../contract/mod.ts";
import { startToolServer } from "../test/mcp/_tool_server.ts";
import { emptyTool } from "./_empty_tool.ts";
import { type Figure, inTurns, quantile } from "./_figures.ts";
import { createInvoke, type Platform } from "../calls/mod.ts";

const ROUNDS = 7;
const CALLS = 300;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const server = await startToolServer({ settings: { SEALOOP_LIMIT_TOOLS: "1000000000" } });
  const { platform } = server;
  const use = { subject: "bench", kind: "tools", limit: 1e9, periodSeconds: 60 };
  const nothing = {
    async request() {
      await platform.usage.count(use); // what the statement does besides, that is not made here
      return { id: "none", holds: true, found: { used: 1 } };
    },
  };
  const unsealed = { ...platform, sealer: { ...platform.sealer, ...nothing } };
  const credential = (await server.key()).key;
  try {
    for (const [what, effect] of [["a read", "read"], ["a write, decided", "write"]] as const) {
      const milliseconds = await inTurns(ROUNDS, {
        bare: median(createInvoke(unsealed), emptyTool("read"), credential),
        house: median(createInvoke(platform), emptyTool(effect), credential),
      });
      yield {
        what: `ms of ${what} and sealed, one at a time`,
        ...milliseconds,
        baseline: "neither decided nor sealed",
        goal: "< 3 ms more",
      };
    }
  } finally {
    await server.stop();
  }
}

function median(
  invoke: Invoke<Platform>,
  operation: Operation<Platform>,
  credential: string,
): () => Promise<number> {
  return async () => {
    const took: number[] = [];
    for (let n = 0; n < CALLS; n++) {
      const started = performance.now();
      await invoke(operation, {
        ...{ door: "mcp", as: operation.effect, requestId: String(n), credential, input: {} },
        ...{ address: "127.0.0.1", signal: new AbortController().signal },
      });
      took.push(performance.now() - started);
    }
    return quantile(took, 0.5);
  };
}
