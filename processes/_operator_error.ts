import { BadSetting } from "../config.ts";
import { isDatabaseAway, Problem } from "../contract/mod.ts";
import { WrongDatabaseRole } from "../store/mod.ts";

/** Returns the sentence for an error that the operator can correct; undefined for others, which need their stack. */
export function operatorErrorText(error: unknown): string | undefined {
  if (isDatabaseAway(error)) {
    return "Cannot reach the database: start the platform first (npm start)";
  }
  const isOperators = error instanceof BadSetting || error instanceof Problem ||
    error instanceof WrongDatabaseRole;
  return isOperators ? error.message : undefined;
}
