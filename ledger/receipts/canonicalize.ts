import { InvalidInput } from "../../contract/mod.ts";
import { canonicalize as canonicalizeValue, NotCanonical } from "../rules/mod.ts";

/**
 * Returns the canonical JSON of a value that a caller has given.
 *
 * @throws {InvalidInput} the value has no canonical form
 */
export function canonicalize(value: unknown): string {
  try {
    return canonicalizeValue(value);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new InvalidInput([{ path: [], msg: error.message, type: "not_canonical" }]);
  }
}
