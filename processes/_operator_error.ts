import { BadSetting } from "../config.ts";
import { isDatabaseAway, Problem } from "../contract/mod.ts";

/** Returns the sentence for an error that the operator can correct; undefined for others, which need their stack. */
export function operatorErrorText(error: unknown): string | undefined {
  if (isDatabaseAway(error)) {
    return "Cannot reach the database: start the platform first (npm start)";
  }
  return error instanceof BadSetting || error instanceof Problem ? error.message : undefined;
}
