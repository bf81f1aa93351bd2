/** Which program a word names. */
import { DOWNLOADED, type State } from "./_state.ts";
import { UNKNOWN } from "./_types.ts";

/** Names that a glob such as `/bin/r?` may stand for, most dangerous first. */
const GLOBBED = [
  "rm",
  "dd",
  "sh",
  "bash",
  "shred",
  "mkfs",
  "chmod",
  "chown",
  "kill",
  "curl",
  "wget",
  "nc",
  "python3",
  "perl",
  "mv",
  "cat",
  "find",
];

/** A program's plain name; globs are taken for the worst that they can stand for. */
export function nameOf(word: string, state: State): string {
  const base = word.replace(/^.*[/\\]/s, "").replace(/\.exe$/i, "").toLowerCase();
  if (word.includes(DOWNLOADED)) state.oddities.add("runs_downloaded");
  if (word.includes(UNKNOWN)) state.oddities.add("hidden_program");
  if (!/[?*[]/.test(base) || base === "[" || base === "[[") return base;
  state.oddities.add("hidden_program");
  const pattern = base.slice(0, 40).replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  try {
    const glob = new RegExp(`^${pattern}$`);
    return GLOBBED.find((name) => glob.test(name)) ?? base;
  } catch {
    return base;
  }
}
