import { BadSetting } from "../config.ts";
import { isDatabaseAway, Problem } from "../contract/mod.ts";

/** What to tell a person of an error that is theirs to mend; undefined: it is not, and needs its stack. */
export function told(error: unknown): string | undefined {
  if (isDatabaseAway(error)) {
    return "The database can't be reached: start the platform first (npm start)";
  }
  return error instanceof BadSetting || error instanceof Problem ? error.message : undefined;
}
