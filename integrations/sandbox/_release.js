import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The good release waits; the bad one fails at once, as with a setting that it can't read. */
const RELEASES = {
  good: "setInterval(() => {}, 1 << 30); process.on('disconnect', () => process.exit());",
  bad: "JSON.parse('{ setting: ');",
};
const AGAIN_MS = 200;
const MOST_STARTS = 100;
/** So many ends of a release are a loop. */
const LOOP = 3;

/** A program that is started again when it ends, as a supervisor does; there is none until a release is deployed. */
export function openRelease(folder) {
  const file = join(folder, "release.cjs");
  const counts = { crashes: 0 };
  let child;
  let ends = 0;
  let current = 0;

  /** Puts a release in force; a good one only in place of another. */
  function deploy(name) {
    if (current === 0 && name === "good") return;
    current++;
    ends = 0;
    writeFileSync(file, RELEASES[name]);
    end();
    start(current);
  }

  function start(of) {
    if (of !== current || ends >= MOST_STARTS) return;
    child = spawn(process.execPath, [file], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
    });
    child.once("error", () => {});
    child.once("exit", () => {
      if (of !== current) return;
      ends++;
      counts.crashes++;
      setTimeout(start, AGAIN_MS, of);
    });
  }

  function end() {
    child?.kill("SIGKILL");
  }

  return { counts, deploy, end, keepsCrashing: () => ends >= LOOP };
}
