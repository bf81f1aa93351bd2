/**
 * Starts shells for a larger process. Starting a process copies the one that starts it, which takes longer the more memory
 * it has and blocks it meanwhile. Plain JavaScript, so that it starts at once and stays small.
 *
 * Receives `{ nr, args, cwd, env, log, endMark }` over IPC. Sends `ready` once, and for each number `begun` and then `ended`. When
 * the process that started it has ended, it stays until the last shell has ended whose end it is to mark; the shells go on.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.on("disconnect", endIfDone);

/** Shells whose end is to be marked. */
let watched = 0;

const report = (nr, state) => process.connected && process.send({ nr, state });

process.on("message", ({ nr, args, cwd, env, log, endMark }) => {
  const file = openSync(log, "a");
  const child = spawn("/bin/sh", args, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  let isWatched = endMark !== undefined;
  if (isWatched) watched++;
  const ended = () => {
    if (isWatched) watched--;
    isWatched = false;
    report(nr, "ended");
    endIfDone();
  };
  child.once("exit", (code, signal) => {
    try {
      if (endMark) writeFileSync(endMark, `${signal?.toLowerCase() ?? `exit_${code}`}\n`);
    } catch {
      // The folder is gone: nobody asks any more.
    }
    ended();
  }).once("error", ended);
  report(nr, "begun");
});

function endIfDone() {
  if (!process.connected && watched === 0) process.exit();
}

report(0, "ready");
