/** A process that makes calls, says when each has reached its moment, and is then killed: `_killed_program.ts <calls as JSON>`. */
import { type Context, createInvoke, type Platform } from "../../calls/mod.ts";
import { loadConfig } from "../../config.ts";
import type { Operation } from "../../contract/mod.ts";
import { registry } from "../../operations/mod.ts";
import { openPlatform } from "../../processes/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { runApprovedCall } from "./_approved_calls.ts";
import { countedRun } from "./_counted_run.ts";
import type { KilledCall, Moment } from "./_kills.ts";

const calls: readonly KilledCall[] = JSON.parse(process.argv[2]!);
const operations = new Map([...registry, [countedRun.name, countedRun]]);
let arrived = 0;

/** Waits at a call's moment for the others, and then for the end of the process. */
function waitForKill(): Promise<never> {
  arrived++;
  if (arrived === calls.length) process.stdout.write("arrived\n");
  setInterval(() => {}, 1_000); // lives until it is killed
  return new Promise<never>(() => {});
}

/** Returns an operation that stops at a moment. */
function stopAt(moment: Moment, operation: Operation<Platform>): Operation<Platform> {
  const unreachable = { workflow: { start: waitForKill } };
  return {
    ...operation,
    run: async (input, given) => {
      const context = given as Context;
      const stopped = {
        temporal: () => Promise.resolve(unreachable),
        commit: (work: Parameters<Context["commit"]>[0]) =>
          context.commit(async (trx) => {
            await work(trx);
            return await waitForKill();
          }),
      };
      const parts = moment === "between" ? { ...context, ...stopped } : context;
      if (moment !== "before") await operation.run(input, parts as never);
      return await waitForKill();
    },
  };
}

const config = loadConfig(process.env);
const urls = {
  gateway: config.settings.SEALOOP_DATABASE_GATEWAY_URL!,
  tools: config.settings.SEALOOP_DATABASE_TOOLS_URL!,
  worker: config.settings.SEALOOP_DATABASE_WORKER_URL!,
};
type Process = keyof typeof urls;
const opened = new Map<Process, ReturnType<typeof open>>();

/** Opens the platform as one process does. */
async function open(role: Process) {
  const log = createLog("test", "silent");
  const { platform } = await openPlatform({ config, log, databaseUrl: () => urls[role] }, role);
  return { platform, invoke: createInvoke(platform) };
}

/** Opens the platform as the process that makes such a call. */
async function openFor({ door, approvalId }: KilledCall) {
  const role = approvalId ? "worker" : door === "rest" ? "gateway" : "tools";
  let platform = opened.get(role);
  if (!platform) opened.set(role, platform = open(role));
  return await platform;
}

await Promise.all(calls.map(async (call) => {
  const { moment, operation: name, approvalId, ...request } = call;
  const { platform, invoke } = await openFor(call);
  const operation = stopAt(moment, operations.get(name)!);
  if (approvalId) return await runApprovedCall(platform, approvalId, operation);
  return await invoke(operation, {
    ...request,
    credential: request.credential,
    requestId: "1",
    address: "127.0.0.1",
    signal: new AbortController().signal,
    detached: true,
  });
}));
