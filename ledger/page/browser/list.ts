/** The list of receipts on the page: checked here, and kept up to date while its newest page is shown. */
import { tellReceipt } from "../../stories/mod.ts";
import type { ListedReceipt } from "../checks/mod.ts";
import { feed, h, showTime } from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import { describeFailure, FetchError, fetchKeys, fetchText, parseJson } from "./fetch.ts";
import type { Pool } from "./pool.ts";

const ROWS = 20;

/** Reads the positions that a page names, and that the server put there. */
export const readPositions = (text = ""): number[] =>
  text.split(" ").filter((part) => /^\d{1,15}$/.test(part)).map(Number);

/** Checks receipts in a thread of its own. @throws {FetchError} */
export async function checkPositions(
  pool: Pool,
  positions: readonly number[],
): Promise<readonly ListedReceipt[]> {
  if (positions.length === 0) return [];
  const outcome = await pool.run({ task: { do: "list", positions }, ...await fetchKeys() });
  if ("list" in outcome) return outcome.list;
  throw new FetchError("failed" in outcome ? outcome.failed : "The check returned nothing");
}

/** A list that follows the ledger. */
export interface FollowedList {
  /** Looks for receipts that are new in the list, and checks them before it shows them. */
  follow(): Promise<void>;
}

/**
 * Checks the receipts of the list, and shows what they say.
 *
 * @param shown positions that the page names
 * @param query of `/api/receipts`, by which the list was made
 */
export function checkList(pool: Pool, shown: readonly number[], query: string): FollowedList {
  const known = new Map<number, ListedReceipt>();
  let positions = shown;

  async function draw(): Promise<void> {
    try {
      const fresh = positions.filter((position) => !known.has(position));
      for (const one of await checkPositions(pool, fresh)) known.set(one.receipt.position, one);
      const listed = positions.flatMap((position) => known.get(position) ?? []);
      if (listed.length === 0) return;
      const stateOf = (position: number) => known.get(position)?.verified ? "pass" : "fail";
      fill(byId("rows"), feed(listed.map(({ receipt }) => tellReceipt(receipt)), stateOf));
      byId("rows").toggleAttribute("data-checked", true);
    } catch (error) {
      fill(byId("live"), h("span", {}, `Not checked: ${describeFailure(error)}`));
    }
  }

  const first = draw();
  return {
    async follow() {
      await first;
      if (new URLSearchParams(query).has("before")) return;
      const newest = await fetchPositions(query);
      const time = showTime(new Date().toISOString());
      fill(byId("live"), ["Live; updated ", time]);
      if (newest.join() === positions.join()) return;
      positions = newest;
      await draw();
    },
  };
}

async function fetchPositions(query: string): Promise<number[]> {
  const list = parseJson(
    await fetchText(`/api/receipts?${query}&limit=${ROWS}`.replace("?&", "?")),
  );
  const { receipts } = Object(list);
  if (!Array.isArray(receipts)) {
    throw new FetchError("The server returned something else than a list");
  }
  return receipts.map((one) => Object(one).chain_position).filter(Number.isSafeInteger);
}
