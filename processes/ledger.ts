import { startLedger } from "./_ledger.ts";
import { runProcess } from "./_process.ts";

const [, , task, ...words] = process.argv;
if (task === "ledger" && words.length > 0) {
  console.error(
    `There is no ${words[0]}: npm run ledger serves the ledger, ` +
      "and npm run ledger -- import <file> takes one over",
  );
  process.exit(1);
}
await runProcess("ledger", startLedger);
