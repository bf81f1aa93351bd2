/** A process that is killed in the midst of a governed call of an operation: `_killed_operation.ts <a KilledCall as JSON>`. */
import { loadConfig } from "../../config.ts";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import { registry } from "../../operations/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { createLog } from "../../web/mod.ts";
import { createInvoke, type Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";

/**
 * When the process is killed: right after the decision; where what is done has been noted, and not been asked for; or
 * when it is done, before anybody is told.
 */
export type Moment = "before" | "between" | "after";

/** The call. */
export interface KilledCall {
  readonly moment: Moment;
  readonly operation: string;
  readonly door: "mcp" | "rest" | "a2a";
  readonly as: string;
  readonly input: unknown;
  readonly credential?: string;
  readonly token?: string;
  /** What allows it, where people have. */
  readonly approvalId?: string;
}

function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise<never>(() => {});
}

if (process.env.APP_URL) {
  const call: KilledCall = JSON.parse(process.argv[2]!);
  const { platform } = await openPlatform({
    config: loadConfig({
      SEALOOP_DATA: process.env.SEALOOP_DATA,
      SEALOOP_A2A_TOKEN: process.env.SEALOOP_A2A_TOKEN,
    }),
    log: createLog("test", "silent"),
    databaseUrl: () => process.env.APP_URL!,
  });
  const dying = { workflow: { signalWithStart: die, start: die } };
  const operation = registry.get(call.operation)!;
  const deadly: Operation<Platform> = {
    ...operation,
    run: async (input, context) => {
      const temporal = call.moment === "between" ? () => Promise.resolve(dying) : context.temporal;
      if (call.moment !== "before") await operation.run(input, { ...context, temporal } as never);
      return await die();
    },
  };
  if (call.approvalId) {
    await createHeldCallRunner({ ...platform, operations: new Map([[deadly.name, deadly]]) })({
      approvalId: call.approvalId,
      run: { workflow_id: `act-${call.approvalId}`, run_id: "first" },
      intentReceiptId: `${call.approvalId}-intent`,
      outcomeReceiptId: `${call.approvalId}-outcome`,
    });
  } else {
    const { door, as, input, credential, token } = call;
    const signal = new AbortController().signal;
    await createInvoke(platform)(deadly, {
      door,
      as,
      input,
      credential,
      token,
      requestId: "1",
      address: "127.0.0.1",
      signal,
      detached: true,
    });
  }
}
