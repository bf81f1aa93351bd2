/**
 * A process that performs an http step and stops itself (SIGSTOP) just before it leaves the mark `sent`.
 *
 *     node _stopped_sender.ts <data folder> <effect id> <url>
 *
 * Prints the outcome once it was continued.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { performStep } from "../../../judgement/runbooks/mod.ts";
import { createContext, step } from "./_runbook.ts";

const [dataDir, effectId, url] = process.argv.slice(2) as [string, string, string];
const { openSync } = fs;
let stopped = false;
fs.openSync = (path, ...rest) => {
  if (!stopped && String(path).includes("/sent")) {
    stopped = true;
    process.kill(process.pid, "SIGSTOP");
  }
  return openSync(path, ...rest);
};
syncBuiltinESMExports();

const outcome = await performStep(step({ http: { url } }), effectId, createContext(dataDir));
console.log(JSON.stringify(outcome));
