import { appendFileSync } from "node:fs";
import { inspect } from "node:util";
import { type MochaOptions, reporters, type Runnable, type Runner } from "mocha";

/**
 * Mocha's usual report, which also tells of each failure at once, as a run takes long, and adds the files of failed tests
 * to the file `FAILED_TESTS`, a line each.
 */
export default class Report extends reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const list = process.env.FAILED_TESTS;
    if (list === undefined) return;
    runner.on("fail", ({ file, title }: Runnable, error: Error) => {
      console.error(`  failed: ${file}: ${title}\n${inspect(error, { depth: 8 })}`);
      appendFileSync(list, `${file}\n`);
    });
  }
}
