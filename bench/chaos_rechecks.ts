/**
 * Seals for an hour, or for the given minutes, beside rechecks of the whole chain, and shows whether each recheck was whole
 * and whether a break was reported that is none.
 */
import { countRechecks } from "../test/ledger/scrub/_rechecks.ts";

/** Prints the counts. @param minutes default 60 */
export async function run([minutes = "60"]: readonly string[]): Promise<void> {
  const endMs = performance.now() + Number(minutes) * 60_000;
  const { sealed, rechecks, overlapping, partial, falseBreaks } = await countRechecks(
    () => performance.now() > endMs,
  );
  console.log(
    `${minutes} minutes: ${sealed} receipts sealed, ${rechecks} rechecks, ${overlapping} of them beside sealing; ` +
      `${partial} not whole, ${falseBreaks.length} false breaks`,
  );
  for (const { position, reason } of falseBreaks) console.log(`  at ${position}: ${reason}`);
  if (partial + falseBreaks.length > 0) process.exitCode = 1;
}
