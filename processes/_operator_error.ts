import { BadSetting } from "../config.ts";
import { isDatabaseAway, Problem } from "../contract/mod.ts";
import { DatabaseNotReady, SchemaTooNew, UnusablePooler, WrongDatabaseRole } from "../store/mod.ts";

/** Errors whose message says what to correct. */
const OPERATOR_ERRORS = [
  BadSetting,
  Problem,
  DatabaseNotReady,
  SchemaTooNew,
  UnusablePooler,
  WrongDatabaseRole,
] as const;

/** Returns the sentence for an error that the operator can correct; undefined for others, which need their stack. */
export function operatorErrorText(error: unknown): string | undefined {
  if (isDatabaseAway(error)) {
    return "Cannot reach the database: start the platform first (npm start)";
  }
  return OPERATOR_ERRORS.some((kind) => error instanceof kind)
    ? (error as Error).message
    : undefined;
}
