/** The script of the ledger's pages. They can be read without it. */
import { watchLedger } from "./chain.ts";
import { offerFileCheck } from "./drop.ts";
import { checkList, readPositions } from "./list.ts";
import { createPool } from "./pool.ts";
import { showReceiptChecks } from "./receipt.ts";
import { showStoryChecks } from "./story.ts";
import { showTrust } from "./trust.ts";

const RELOAD_MS = 5_000;
const { page, worker, position, asked, about, positions, list } = document.body.dataset;

if (page === "overview") {
  const pool = createPool(worker!);
  showTrust();
  watchLedger(pool, checkList(pool, readPositions(positions), list ?? ""));
  offerFileCheck(pool);
} else if (page === "receipt") {
  showTrust();
  showReceiptChecks(createPool(worker!), Number(position), asked);
} else if (page === "story") {
  showTrust();
  showStoryChecks(createPool(worker!), about!, readPositions(positions));
} else if (page === "away") {
  setTimeout(() => location.reload(), RELOAD_MS);
}
