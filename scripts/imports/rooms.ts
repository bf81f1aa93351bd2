/**
 * The rooms of the product, from the top to the bottom, and what each may import besides itself. Two rooms may not import
 * each other, not even through a third.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  processes: [
    "activities",
    "api",
    "mcp",
    "console",
    "operations",
    "calls",
    "judgement",
    "integrations",
    "ledger",
    "runtime",
    "store",
    "config.ts",
  ],
  workflows: ["activities"],
  activities: [
    "operations",
    "calls",
    "judgement",
    "integrations",
    "ledger",
    "runtime",
    "store",
    "config.ts",
  ],
  api: ["operations", "calls", "integrations", "runtime", "store"],
  mcp: ["operations", "calls", "runtime"],
  console: ["ledger", "runtime"],
  operations: [
    "calls",
    "judgement",
    "integrations",
    "ledger",
    "runtime",
    "store",
    "config.ts",
  ],
  calls: ["judgement", "integrations", "ledger", "runtime", "store", "config.ts"],
  judgement: ["integrations", "ledger", "runtime", "store", "config.ts"],
  integrations: ["ledger", "runtime", "store", "config.ts"],
  ledger: ["runtime", "store", "config.ts"],
  runtime: ["store", "config.ts"],
  store: [],
  "config.ts": [],
  contract: [],
};

/** Returns the room of a file: its top folder; for a file beside the folders, its own name. */
export function roomOf(path: string): string {
  return path.split("/")[0]!;
}

/** Returns whether a file is a part of the product, and not a test, a measurement or a tool. */
export function isProduct(path: string): boolean {
  return !/^(test|bench|evals|scripts|docs)\//.test(path);
}
