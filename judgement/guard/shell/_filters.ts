/** Text of programs that pick values: jq and its kin, and miller. */
import { type CodeToken, tokenize } from "./_code_tokens.ts";

const WRITES = /^(tee|emit|emit1|emitp|emitf|print|printn|eprint|eprintn|dump|edump)$/;
const FIELD = /^[.$@]/;

/** Returns the first name in a filter that is not known; undefined: there is none. */
export function unknownFilterPart(text: string, names: ReadonlySet<string>): string | undefined {
  const tokens = tokenize(text, /\\\(([^)]*)\)/g);
  const declared = new Set(tokens.filter((_, n) => tokens[n - 1]?.value === "def").map(nameOf));
  return tokens.find((token, n) => {
    if (token.kind !== "name") return false;
    const { value } = token;
    if (/^\$(ENV|__prog_args|__loc__)$/.test(value)) return true;
    if (FIELD.test(value) || tokens[n - 1]?.value === ".") return false;
    return tokens[n + 1]?.value !== ":" && !names.has(value) && !declared.has(value);
  })?.value;
}

/** Returns the first part of miller's text that writes, runs something or is not known; undefined: there is none. */
export function unknownTablePart(text: string, names: ReadonlySet<string>): string | undefined {
  const tokens = tokenize(text);
  let writes: string | undefined;
  for (const [n, { kind, value }] of tokens.entries()) {
    if (/^[;{}]$/.test(value)) writes = undefined;
    if (kind === "name" && WRITES.test(value)) writes = value;
    if (value === "tee" || writes !== undefined && /^[>|]$/.test(value)) return writes;
    if (kind !== "name" || FIELD.test(value)) continue;
    if (value === "ENV" || tokens[n + 1]?.value === "(" && !names.has(value)) return value;
  }
  return undefined;
}

function nameOf({ value }: CodeToken): string {
  return value;
}
