import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { type MochaOptions, reporters, type Runnable, type Runner } from "mocha";

/**
 * Mocha's usual report. A run of all files takes long, so that it also tells of each failure at once, and notes it in the file
 * `failures` beside the logs, which `scripts/test.ts` prints at the end.
 */
export default class Report extends reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const logs = process.env.TEST_LOGS;
    if (logs === undefined) return;
    runner.on("fail", ({ file, title }: Runnable, error: Error) => {
      const failure = `  failed: ${file}: ${title}\n${inspect(error, { depth: 8 })}\n`;
      process.stderr.write(failure);
      appendFileSync(join(logs, "failures"), failure);
    });
  }
}
