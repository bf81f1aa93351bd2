/** The sequencer in a process of its own: `_sequencer.ts <url> <key file>`, until it is disconnected. */
import { runSequencer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";

const [url, keyFile] = process.argv.slice(2) as [string, string];
const stop = new AbortController();
process.on("disconnect", () => stop.abort());
await runSequencer({ store: openStore(url, "sequencer"), keyFile, signal: stop.signal });
process.exit(0);
