/**
 * A process of its own that outlives the one which started it by as long as it takes to stop what that one left running.
 *
 * It holds the other end of a pipe, so it learns of that end however it came: the system closes the pipe.
 * Arguments: the data folder, and whose list is to be stopped.
 */
import type { ProcessId } from "./_process_id.ts";
import { stopLeftovers } from "./tree.ts";

const [dataDir, pid, start_time] = process.argv.slice(2);
const supervisor: ProcessId = { pid: Number(pid), start_time: start_time! };

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => {});
process.stdin.resume().once("close", () => stopLeftovers(dataDir!, { of: supervisor }));
