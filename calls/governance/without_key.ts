import { Problem } from "../../contract/mod.ts";
import type { GovernedCall } from "../invoke.ts";

/**
 * Decides nothing: rules and switches are about keys, and no key is behind this call. What is only asked about is not
 * done all the same.
 *
 * @throws {Problem} `InvalidInput`: it is a dry run
 */
export function decideWithoutKey<C>({ operation, request }: GovernedCall<C>): void {
  if (!request.dryRun) return;
  const msg = `There is no dry run of ${operation.name} without an API key, as it is keys that ` +
    "governance decides about; nothing was done";
  const detail = [{ loc: ["header", "x-dry-run"], msg, type: "value_error" }];
  throw new Problem("InvalidInput", msg, { body: { detail } });
}
