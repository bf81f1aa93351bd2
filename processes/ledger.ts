import { startLedger } from "./_ledger.ts";
import { runProcess } from "./_process.ts";

await runProcess("ledger", startLedger);
