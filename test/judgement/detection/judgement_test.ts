import assert from "node:assert/strict";
import { judgeFault, type MeasuredFault } from "../../../judgement/detection/mod.ts";

describe("judgeFault()", () => {
  const jobs = { name: "jobs", type: "queue", check: { command: ["/opt/check-jobs", "s3cret"] } };
  const judge = (fault: Partial<MeasuredFault> & Pick<MeasuredFault, "check" | "code">) =>
    String(judgeFault({ service: undefined, record: undefined, failing: [], ...fault }).says);

  it("quotes what a failing check has printed, and not its arguments", () => {
    const exit = (output?: string) =>
      judge({
        check: "command",
        code: "exit_3",
        service: jobs,
        record: { summary: "", detail: { output } },
      });
    assert.equal(exit(), "The check check-jobs fails with exit code 3.");
    assert.equal(
      exit("5012 jobs wait"),
      "The check check-jobs fails with exit code 3, and prints “5012 jobs wait”.",
    );
  });

  it("quotes a line of the log that a finding is about", () => {
    const summary = "/var/log/app.log on web1 has 1 new kind of lines";
    const says = (samples: readonly string[]) =>
      judge({ check: "log", code: "new_templates", record: { summary, detail: { samples } } });
    assert.equal(says([]), `${summary}.`);
    assert.equal(
      says(["ERROR no route", "ERROR x"]),
      `${summary}. One of the lines: “ERROR no route”.`,
    );
    assert.match(says([`x\u202e${"y".repeat(900)}`]), /: “x⟨U\+202E⟩y{190,200}…”\.$/);
  });
});
