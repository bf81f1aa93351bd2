/** Restores slowly: `_restore_program.ts <database> <folder> <export>`; prints a line for each part that is put back. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { readLogSettings, restoreLedger } from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";

const PAUSE_MS = 40;
const [url, folder, path] = process.argv.slice(2) as [string, string, string];
await restoreLedger({
  store: openStore(url, "sequencer", 2),
  keyFile: join(folder, "ledger.key"),
  log: readLogSettings(loadConfig({ SEALOOP_DATA: folder })),
  exports: [path],
  onProgress(_, done) {
    writeSync(1, `${done}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS); // before it commits
  },
});
process.exit();
