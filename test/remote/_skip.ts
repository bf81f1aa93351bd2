import type { Context, Suite } from "mocha";

/** Skips the tests of a suite, and says why in their titles: a run of many files at once shows no other output. */
export function skipSuite(hook: Context, reason: string): void {
  const suite = hook.test!.parent as Suite;
  suite.eachTest((test) => void (test.title += ` — skipped: ${reason}`));
  hook.skip();
}
