import { inspect } from "node:util";
import { type MochaOptions, reporters, type Runnable, type Runner } from "mocha";

/** Mocha's usual report, which in a run of all files also tells of each failure at once, as such a run takes long. */
export default class Report extends reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    if (process.env.TEST_LOGS === undefined) return;
    runner.on("fail", ({ file, title }: Runnable, error: Error) => {
      console.error(`  failed: ${file}: ${title}\n${inspect(error, { depth: 8 })}`);
    });
  }
}
