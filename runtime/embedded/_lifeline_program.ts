/**
 * Stops the processes that a killed supervisor left running. It holds the other end of a pipe of the supervisor, which the
 * system closes however the supervisor ends.
 *
 * Arguments: the data folder; pid and start time of the supervisor.
 */
import { stopLeftovers } from "./_stop_tree.ts";
import type { ProcessId } from "./process_id.ts";

const [dataDir, pid, start_time] = process.argv.slice(2);
const supervisor: ProcessId = { pid: Number(pid), start_time: start_time! };

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => {});
process.stdin.resume().once("close", () => stopLeftovers(dataDir!, { of: supervisor }));
