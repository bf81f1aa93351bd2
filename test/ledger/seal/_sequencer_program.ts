/** Seals until it can't: `_sequencer_program.ts <url> <key file> <lease, ms>`; prints `sealing`, and how it has ended. */
import { runSequencer } from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";

const [url, keyFile, leaseMs] = process.argv.slice(2) as [string, string, string];
await runSequencer({
  store: openStore(url, "sequencer"),
  keyFile,
  leaseMs: Number(leaseMs),
  signal: new AbortController().signal,
  onStart: () => void process.stdout.write("sealing\n"),
}).then(
  () => process.stdout.write("ended\n"),
  (error) => process.stdout.write(`${error.name}: ${error.message}\n`),
);
process.exit();
