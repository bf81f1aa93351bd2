/** Files that a line reads and writes by `<`, `>` and here-documents. */
import type { Redirection } from "unbash";
import type { State } from "./_state.ts";
import { type Scope, textOf, textOfParts } from "./_words.ts";
import { type Input, UNKNOWN, type Write } from "./_types.ts";

/** What redirections write, and what comes in by them. */
export function redirected(
  redirects: readonly Redirection[],
  scope: Scope,
  { files }: State,
): { writes: Write[]; input: Input | undefined } {
  const writes: Write[] = [];
  let input: Input | undefined;
  for (const one of redirects) {
    if (one.type === "HereDoc") {
      const { delimiter, body } = one;
      const text = delimiter?.quoted || !body.parts ? body.text : textOfParts(body.parts, scope);
      input = { text, from: [] };
    } else if (one.type === "HereString") {
      input = { text: textOf(one.target, scope), from: [] };
    } else {
      const path = textOf(one.target, scope);
      if (/^(\d+|-)$/.test(path)) continue;
      if (one.operator === "<") input = { text: files.get(path), from: [], path };
      else writes.push({ path, appends: one.operator.endsWith(">>") });
    }
  }
  return { writes, input };
}

/** Notes what files hold once a program has written them. */
export function noteFiles(writes: readonly Write[], text: string | undefined, state: State): void {
  for (const { path } of writes) {
    if (!path.startsWith("/dev/") && state.files.size < 32) state.files.set(path, text ?? UNKNOWN);
  }
}
