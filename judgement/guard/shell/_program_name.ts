/** Finds the program that a word names. */
import { DOWNLOADED, type State } from "./_state.ts";
import { UNKNOWN } from "./_types.ts";

/** Names that a glob such as `/bin/r?` may stand for, most dangerous first. */
const GLOB_CANDIDATES = [
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

/** Returns a program's plain name. A glob is taken for the most dangerous program that it can stand for. */
export function programName(word: string, state: State): string {
  const base = word.replace(/^.*[/\\]/s, "").replace(/\.exe$/i, "").toLowerCase();
  if (word.includes(DOWNLOADED)) state.issues.add("runs_downloaded");
  if (word.includes(UNKNOWN)) state.issues.add("hidden_program");
  if (!/[?*[]/.test(base) || base === "[" || base === "[[") return base;
  state.issues.add("hidden_program");
  const pattern = base.slice(0, 40).replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  try {
    const glob = new RegExp(`^${pattern}$`);
    return GLOB_CANDIDATES.find((name) => glob.test(name)) ?? base;
  } catch {
    return base;
  }
}
