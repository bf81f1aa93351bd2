/**
 * The sequencer in a process of its own: `_sequencer_program.ts <database> <folder> [log] [flush]`, until it is
 * disconnected.
 */
import { join } from "node:path";
import { loadConfig } from "../config.ts";
import { type LogWriter, openLog, readLogSettings, runSequencer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";

const [databaseUrl, folder, ...parts] = process.argv.slice(2) as [string, string, ...string[]];
const stop = new AbortController();
process.on("disconnect", () => stop.abort());
const store = openStore(databaseUrl, "sequencer");
const withLog = parts.includes("log");
let merkleLog: LogWriter | undefined;
await runSequencer({
  store,
  keyFile: join(folder, "ledger.key"),
  signal: stop.signal,
  signer: { durable: parts.includes("flush") },
  onStart() {
    if (!withLog) return;
    const settings = readLogSettings(loadConfig({ SEALOOP_DATA: folder }));
    merkleLog = openLog({ ...settings, store, signal: stop.signal, onTrouble: console.error });
  },
  ...(withLog ? { onLeaves: (...added) => merkleLog?.add(...added) } : {}),
});
await merkleLog?.ended;
process.exit(0);
