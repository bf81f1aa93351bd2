import { appendFileSync } from "node:fs";
import { type MochaOptions, reporters, type Runnable, type Runner } from "mocha";

/** Mocha's usual report, which also adds the files of failed tests to the file `FAILED_TESTS`, a line each. */
export default class Report extends reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const list = process.env.FAILED_TESTS;
    if (list === undefined) return;
    runner.on("fail", ({ file }: Runnable) => appendFileSync(list, `${file}\n`));
  }
}
