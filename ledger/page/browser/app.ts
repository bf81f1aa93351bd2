/** The script of the ledger's pages. They can be read without it. */
import { watchLedger } from "./chain.ts";
import { offerFileCheck } from "./drop.ts";
import { createPool } from "./pool.ts";
import { showReceiptChecks } from "./receipt.ts";
import { showTrust } from "./trust.ts";

const RELOAD_MS = 5_000;
const { page, worker, position, asked } = document.body.dataset;

if (page === "overview") {
  const pool = createPool(worker!);
  showTrust();
  watchLedger(pool);
  offerFileCheck(pool);
} else if (page === "receipt") {
  showTrust();
  showReceiptChecks(createPool(worker!), Number(position), asked);
} else if (page === "away") {
  setTimeout(() => location.reload(), RELOAD_MS);
}
