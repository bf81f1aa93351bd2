import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The good release waits. The bad one fails at once, as with a setting that it can't read. */
const RELEASES = {
  good: "setInterval(() => {}, 1 << 30); process.on('disconnect', () => process.exit());",
  bad: "JSON.parse('{ setting: ');",
};
const RESTART_PAUSE_MS = 200;
const MAX_STARTS = 100;
/** So many crashes of a release are a loop. */
const LOOP_CRASHES = 3;

/** Runs a release and starts it again when it ends, as a supervisor does. None runs until one is deployed. */
export function openRelease(folder) {
  const file = join(folder, "release.cjs");
  const counts = { crashes: 0 };
  let child;
  let ends = 0;
  let current = 0;

  /** Deploys a release; a good one only in place of another. */
  function deploy(name) {
    if (current === 0 && name === "good") return;
    current++;
    ends = 0;
    writeFileSync(file, RELEASES[name]);
    end();
    start(current);
  }

  function start(of) {
    if (of !== current || ends >= MAX_STARTS) return;
    child = spawn(process.execPath, [file], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    child.once("error", () => {});
    child.once("exit", () => {
      if (of !== current) return;
      ends++;
      counts.crashes++;
      setTimeout(start, RESTART_PAUSE_MS, of);
    });
  }

  function end() {
    child?.kill("SIGKILL");
  }

  return { counts, deploy, end, keepsCrashing: () => ends >= LOOP_CRASHES };
}
