/** Redirections: files that a line reads and writes by `<`, `>` and here-documents. */
import type { Redirection } from "unbash";
import { isSecret } from "./_destinations.ts";
import type { State } from "./_state.ts";
import { type FileWrite, type Input, UNKNOWN } from "./_types.ts";
import { partsText, type Scope, wordText } from "./_words.ts";

/** Returns the writes and the input of redirections. */
export function readRedirections(
  redirects: readonly Redirection[],
  scope: Scope,
  { files }: State,
): { writes: FileWrite[]; input: Input | undefined } {
  const writes: FileWrite[] = [];
  let input: Input | undefined;
  for (const one of redirects) {
    if (one.type === "HereDoc") {
      const { delimiter, body } = one;
      const text = delimiter?.quoted || !body.parts ? body.text : partsText(body.parts, scope);
      input = { text, from: [] };
    } else if (one.type === "HereString") {
      input = { text: wordText(one.target, scope), from: [] };
    } else {
      const path = wordText(one.target, scope);
      if (/^(\d+|-)$/.test(path)) continue;
      if (one.operator === "<") {
        // A secret that is read by any of several redirections stays the one that is judged.
        if (input?.path === undefined || !isSecret(input.path)) {
          input = { text: files.get(path), from: [], path };
        }
      } else writes.push({ path, appends: one.operator.endsWith(">>") });
    }
  }
  return { writes, input };
}

/** Records the content of files that a program has written. */
export function recordFiles(
  writes: readonly FileWrite[],
  text: string | undefined,
  state: State,
): void {
  for (const { path } of writes) {
    if (!path.startsWith("/dev/") && state.files.size < 32) state.files.set(path, text ?? UNKNOWN);
  }
}
