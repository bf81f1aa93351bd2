import { readFileSync } from "node:fs";
import { canonicalizeFields, canonicalizeItems, type TrustedKey } from "../../ledger/rules/mod.ts";

/** A chain of the vectors. */
export interface VectorChain {
  readonly name: string;
  readonly breaksAt: number | undefined;
  readonly records: readonly string[];
}

const read = (name: string) => readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8");

const mixed = canonicalizeFields(read("mixed-era-chain.json"));

/** 5 receipts of era 1, 6 of era 2, 40 of era 3; all valid. */
export const mixedChain: VectorChain = {
  name: "mixed eras",
  breaksAt: undefined,
  records: canonicalizeItems(mixed.get("receipts")!),
};

/** The key that signed the vectors, trusted from the start. */
export const vectorKeys: readonly TrustedKey[] = [
  { publicKey: JSON.parse(mixed.get("public_key")!), fromPosition: 0 },
];

/** Ten copies of the mixed chain with one fault each. */
export const faultyChains: readonly VectorChain[] = canonicalizeItems(read("faulty-chains.json"))
  .map(canonicalizeFields)
  .map((chain) => ({
    name: JSON.parse(chain.get("name")!),
    breaksAt: Number(chain.get("breaks_at")),
    records: canonicalizeItems(chain.get("receipts")!),
  }));

/** Makes a chain of era 1, which is not signed. */
export function unsignedChain(count: number, idOf = (n: number) => `receipt-${n}`): string[] {
  let previous = "";
  return Array.from({ length: count }, (_, n) => {
    const hash_sha256 = n.toString(16).padStart(64, "0");
    const timestamp = "2026-01-01T00:00:00+00:00";
    const text = JSON.stringify({
      id: idOf(n),
      timestamp,
      category: "test",
      actor: "a",
      subject: "s",
      action: "x",
      outcome: "ok",
      details: {},
      prev_hash: previous,
      hash_sha256,
    });
    previous = hash_sha256;
    return text;
  });
}
