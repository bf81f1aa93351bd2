import { Problem } from "../../contract/mod.ts";

/** A request has the id of another receipt. */
export class ReceiptConflict extends Problem {
  /** @param differsIn names of the fields that differ, where they are known */
  constructor(readonly id: string, readonly differsIn: readonly string[] = []) {
    const other = differsIn.length > 0 ? `another ${differsIn.join(", ")}` : "other content";
    super("ReceiptConflict", `Cannot seal receipt ${id} as it is already sealed with ${other}`);
  }
}

/** No receipt has this id or prefix. */
export class ReceiptNotFound extends Problem {
  constructor(readonly id: string) {
    const error = `There is no receipt with the id or hash prefix ${id}`;
    super("ReceiptNotFound", error, { body: { error, receipt_id: id } });
  }
}

/** A prefix matches several receipts. */
export class AmbiguousReceipt extends Problem {
  /** @param matches ids of the first of them */
  constructor(readonly id: string, readonly matches: readonly string[]) {
    const error = `The prefix ${id} fits several receipts: ${matches.join(", ")}`;
    super("AmbiguousReceipt", error, { body: { error, receipt_id: id, matches } });
  }
}
