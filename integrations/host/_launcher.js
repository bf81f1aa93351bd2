/**
 * Starts shells for a larger process. Starting a process copies the one that starts it, which takes longer the more memory
 * it has and blocks it meanwhile. Plain JavaScript, so that it starts at once and stays small.
 *
 * Receives `{ nr, args, cwd, env, log }` over IPC. Sends `ready` once, and for each number `begun` and then `ended`. It ends
 * together with the process that started it; the shells go on.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.on("disconnect", () => process.exit());

const report = (nr, state) => process.connected && process.send({ nr, state });

process.on("message", ({ nr, args, cwd, env, log }) => {
  const file = openSync(log, "a");
  const child = spawn("/bin/sh", args, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.once("exit", () => report(nr, "ended")).once("error", () => report(nr, "ended"));
  report(nr, "begun");
});

report(0, "ready");
