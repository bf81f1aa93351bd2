/**
 * The rooms of the product and what each may import, besides itself, `contract`, `domain` and `config.ts`. Two rooms may
 * not import each other, not even through a third.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = rooms();

function rooms(): Record<string, readonly string[]> {
  const base = ["store", "metrics"];
  const middle = [...base, "ledger", "temporal", "embedded", "web"];
  const knowledge = [
    "engine",
    "guard",
    "detection",
    "shield",
    "runbooks",
    "catalogue",
    "compliance",
    "integrations",
    "articles",
    "media",
  ];
  const calls = ["calls", ...knowledge, ...middle];
  const surfaces = ["api", "mcp", "operations", "activities"];
  return {
    domain: [],
    contract: [],
    store: [],
    metrics: [],
    web: base,
    embedded: base,
    ledger: [...base, "web"],
    temporal: base,
    ...Object.fromEntries(knowledge.map((room) => [room, [...knowledge, ...middle]])),
    calls: [...knowledge, ...middle],
    workflows: ["activities"],
    activities: calls,
    operations: calls,
    api: [...calls],
    mcp: [...calls],
    processes: [...surfaces, ...calls],
  };
}

/** Returns the room of a file: its top folder; for a file beside the folders, its own name. */
export function roomOf(path: string): string {
  return path.split("/")[0]!;
}

/** Returns whether a file is a part of the product, and not a test, a measurement or a tool. */
export function isProduct(path: string): boolean {
  return !/^(test|bench|scripts|docs)\//.test(path);
}
