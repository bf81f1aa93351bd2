/** A thread that answers after the delay that it is asked for, so that answers come in another order than messages. */
import { setTimeout as sleep } from "node:timers/promises";
import { answerMessages } from "../../../ledger/threads/mod.ts";

/** A message to the thread. */
export interface SlowMessage {
  readonly text: string;
  readonly delayMs: number;
  /** True: it throws instead. */
  readonly fails?: boolean;
  /** True: the thread ends instead. */
  readonly ends?: boolean;
}

answerMessages(async ({ text, delayMs, fails, ends }: SlowMessage) => {
  if (delayMs > 0) await sleep(delayMs);
  if (ends) process.exit();
  if (fails) throw new Error(`no answer to ${text}`);
  return `answer to ${text}`;
});
