/** A process that is killed in the midst of a governed call: `_killed.ts call <key>`, `ticket <key> before|after`, or `act <approval id>`. */
import { loadConfig } from "../../config.ts";
import { z } from "zod";
import { defineOperation, type Operation } from "../../contract/mod.ts";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import { registry } from "../../operations/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { createLog } from "../../web/mod.ts";
import { createInvoke, type Platform } from "../../calls/mod.ts";

/** Marks in a file that it was run, then kills its process. */
export const deadly = defineOperation<Platform>()({
  name: "test.deadly",
  summary: "Kill whoever runs it",
  group: "test",
  effect: "write",
  access: "key",
  input: z.object({ n: z.number() }),
  output: z.object({}),
  tool: { deadly: ["full"] },
  example: { input: { n: 1 }, output: {} },
  run: async ({ n }, { store }) => {
    await store.asPlatform().execute(
      "INSERT INTO usage (subject, kind, period_start, used) VALUES ('deadly', $1, 'epoch', 1)",
      [String(n)],
    );
    process.kill(process.pid, "SIGKILL");
    return await new Promise<never>(() => {});
  },
});

/** Opens a ticket as the tool does, and kills its process before or after. */
function deadlyTicket(when: string): Operation<Platform> {
  const ticket = registry.get("tickets.create")!;
  return {
    ...ticket,
    async run(input, context) {
      if (when === "after") await ticket.run(input, context);
      process.kill(process.pid, "SIGKILL");
      return await new Promise<never>(() => {});
    },
  };
}

const [what, word, when] = process.argv.slice(2);
if (process.env.APP_URL) {
  const { platform } = await openPlatform({
    config: loadConfig({}),
    log: createLog("test", "silent"),
    databaseUrl: () => process.env.APP_URL!,
  });
  if (what === "ticket") {
    await createInvoke(platform)(deadlyTicket(when!), {
      door: "mcp",
      requestId: "1",
      credential: word,
      address: "127.0.0.1",
      as: "itsm_create_ticket",
      input: { title: "Printer jams" },
      signal: new AbortController().signal,
    });
  } else if (what === "act") {
    await createHeldCallRunner({ ...platform, operations: new Map([[deadly.name, deadly]]) })({
      approvalId: word!,
      run: { workflow_id: `act-${word}`, run_id: "first" },
      intentReceiptId: `${word}-intent`,
      outcomeReceiptId: `${word}-outcome`,
    });
  } else {
    await createInvoke(platform)(deadly, {
      door: "mcp",
      requestId: "1",
      credential: word,
      address: "127.0.0.1",
      as: "deadly",
      input: { n: 1 },
      signal: new AbortController().signal,
    });
  }
}
