/** Signs until the disk is full, and then once more: `_full_disk_program.ts <key file>`; prints how many, and the errors. */
import { getHeadAfter, openSigner } from "../../../ledger/signer/mod.ts";
import { EMPTY, makeBatch } from "./_batches.ts";

process.on("SIGXFSZ", () => {}); // the write then fails, as on a full disk
const signer = await openSigner(process.argv[2]!);
await signer.startFrom(EMPTY);
const errors: string[] = [];
let head = EMPTY;
let signed = 0;
while (errors.length < 2) {
  const batch = makeBatch(head, 1, "x".repeat(100_000));
  try {
    await signer.sign(batch);
    signed++;
    head = getHeadAfter(batch);
  } catch (error) {
    errors.push((error as NodeJS.ErrnoException).code ?? String(error));
  }
}
process.stdout.write(JSON.stringify({ signed, errors }));
await signer.close();
