/** What the ledger's pages do in a browser. Without it they can still be read. */
import { watchLedger } from "./chain.ts";
import { offerFiles } from "./drop.ts";
import { createPool } from "./pool.ts";
import { checkReceipt } from "./receipt.ts";

const RELOAD_MS = 5_000;
const { page, worker, position, asked } = document.body.dataset;

if (page === "overview") {
  const pool = createPool(worker!);
  watchLedger(pool);
  offerFiles(pool);
} else if (page === "receipt") {
  checkReceipt(createPool(worker!), Number(position), asked);
} else if (page === "away") {
  setTimeout(() => location.reload(), RELOAD_MS);
}
