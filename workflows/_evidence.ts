import type { Evidence } from "../domain/mod.ts";

/** Most pieces that a model is given, and the letters that each is cut at. */
const MOST = 66;
const LONGEST = 240;

/**
 * Numbers what was found. Of each finder as much is taken, the first of it, so that none crowds out the others; what two
 * of them say alike is taken once.
 */
export function evidenceOf(
  found: readonly { readonly from: string; readonly says: readonly string[] }[],
): Evidence[] {
  const share = Math.max(1, Math.floor(MOST / Math.max(1, found.length)));
  const pieces = new Map<string, string>();
  for (const { from, says } of found) {
    for (const one of says.slice(0, share)) {
      const text = one.length > LONGEST ? `${startOf(one)}…` : one;
      if (!pieces.has(text)) pieces.set(text, from);
    }
  }
  return [...pieces].slice(0, MOST).map(([text, from], at) => ({ n: at + 1, from, text }));
}

/** As much as is taken, without half a character at its end. */
const startOf = (text: string) => text.slice(0, LONGEST - 1).replace(/[\uD800-\uDBFF]$/, "");
