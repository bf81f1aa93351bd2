import type { Evidence } from "../contract/domain/mod.ts";

/** Most pieces of evidence for a model. */
const MAX_PIECES = 66;
/** Characters at which a piece is cut. */
const MAX_LENGTH = 240;

/**
 * Numbers sentences as evidence, each once. Every source gets the same share, filled by its first sentences, so that none
 * displaces the others.
 */
export function evidenceOf(
  found: readonly { readonly from: string; readonly says: readonly string[] }[],
): Evidence[] {
  const share = Math.max(1, Math.floor(MAX_PIECES / Math.max(1, found.length)));
  const pieces = new Map<string, string>();
  for (const { from, says } of found) {
    for (const sentence of says.slice(0, share)) {
      const text = cut(sentence);
      if (!pieces.has(text)) pieces.set(text, from);
    }
  }
  return [...pieces].slice(0, MAX_PIECES).map(([text, from], at) => ({ n: at + 1, from, text }));
}

/** Cuts a long text, but not within a character, which model servers refuse. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
