/**
 * Starts shells for a process that has grown: a process is copied to start another, which takes the longer the more
 * memory it has, and holds up whatever else it does. Plain JavaScript, so that it starts at once and stays small.
 *
 * Told `{ nr, args, cwd, env, log }` over IPC; tells `ready` once, and of each number `begun` and then `ended`. Ends
 * with whoever started it, and what it has started goes on.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.on("disconnect", () => process.exit());

const tell = (nr, state) => process.connected && process.send({ nr, state });

process.on("message", ({ nr, args, cwd, env, log }) => {
  const file = openSync(log, "a");
  const child = spawn("/bin/sh", args, {
    ...{ cwd, env, detached: true },
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.once("exit", () => tell(nr, "ended")).once("error", () => tell(nr, "ended"));
  tell(nr, "begun");
});

tell(0, "ready");
