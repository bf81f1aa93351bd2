import { setTimeout as sleep } from "node:timers/promises";
import { BadSetting } from "../config.ts";
import { DatabaseNotReady, SchemaTooNew, UnusablePooler, WrongDatabaseRole } from "../store/mod.ts";
import type { Log } from "../runtime/web/mod.ts";

const RETRY_MS = 1_000;

/** Repeats work until it succeeds. An error that the operator has to mend is thrown at once. */
export type Retry = <T>(server: string, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that repeats work and logs why a server cannot be used yet.
 *
 * @param onWait called with the name of the server that is waited for, and with null once it has answered
 * @param operatorErrors errors that the operator has to mend, besides wrong settings and database roles
 */
export function openRetry(
  log: Log,
  onWait: (server: string | null, code?: string) => void,
  operatorErrors: readonly (new (...args: never[]) => Error)[] = [],
): Retry {
  return async (server, work) => {
    onWait(server);
    while (true) {
      try {
        const result = await work();
        onWait(null);
        return result;
      } catch (error) {
        if (
          [BadSetting, WrongDatabaseRole, UnusablePooler, SchemaTooNew, ...operatorErrors].some((
            kind,
          ) => error instanceof kind)
        ) throw error;
        if (error instanceof DatabaseNotReady) onWait("the schema of this version", "schema");
        else onWait(server);
        log.warn({ err: error }, `Cannot use ${server} yet; trying again`);
        await sleep(RETRY_MS);
      }
    }
  };
}
