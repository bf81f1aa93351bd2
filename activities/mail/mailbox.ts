import { setTimeout as sleep } from "node:timers/promises";
import { receiveMail } from "../../operations/mail/sending/mod.ts";
import { isDatabaseAway, Problem } from "../../contract/mod.ts";
import { readMailbox } from "../../integrations/mail/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { createTurnSignal, workerStopping } from "../turns.ts";

const PAUSE_MS = 15_000;

/** Creates the activity that reads the mailbox of replies. */
export function mailboxActivities(parts: ActivityParts) {
  const { config, log, stopping } = parts;

  /**
   * Reads the mailbox for one turn or until this worker stops. Safe to repeat, and to run in several workers at once: a
   * mail is recognized by its bytes.
   *
   * @throws {ApplicationFailure} benign: this worker stops, and another one takes over
   */
  async function readReplies(): Promise<void> {
    const signal = createTurnSignal(stopping);
    let lastFailure = "";
    while (!signal.aborted) {
      try {
        await readMailbox(config, {
          signal,
          onMessage: (bytes) => receiveMail(parts, { bytes }),
          onUnreadable: (uid, err) => log.warn({ uid, err }, "A received mail can't be read"),
          isRetryable: (error) =>
            isDatabaseAway(error) || error instanceof Problem && error.rule.retryable,
        });
      } catch (error) {
        const { message } = error as Error;
        if (message !== lastFailure) log.warn({ err: error }, "The mailbox can't be read for now");
        lastFailure = message;
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
    if (stopping.aborted) throw workerStopping();
  }

  return { readReplies };
}
