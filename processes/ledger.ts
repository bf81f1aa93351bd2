import { startLedger } from "./_ledger.ts";
import { runProcess } from "./_process.ts";
import { waitForDatabase } from "./_wait_for_database.ts";
import { runImport } from "./commands/mod.ts";
import { runToEnd } from "./_end.ts";

const [, , word, ...args] = process.argv;
if (word === "import") {
  await runToEnd(() => runImport(args));
} else if (word !== undefined && !word.startsWith("--")) {
  console.error(
    `There is no ${word}: npm run ledger serves the ledger, ` +
      "and npm run ledger -- import <file> takes one over",
  );
  process.exitCode = 1;
} else {
  await runProcess("ledger", async (parts) => {
    parts.presence.begin("ledger", { role: "ledger", url: parts.databaseUrl("ledger") });
    await waitForDatabase(parts, "ledger");
    return await startLedger(parts);
  });
}
