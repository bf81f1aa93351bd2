import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../config.ts";
import { judgeCommand } from "../../../judgement/guard/shell/mod.ts";

const FOLDER = join(ROOT, "judgement", "guard", "programs");

describe("the entries of judgement/guard/programs", () => {
  for (const file of readdirSync(FOLDER)) {
    it(`name only kinds and expressions that there are, in ${file}`, () => {
      const entries = parse(readFileSync(join(FOLDER, file), "utf8")) as Record<string, unknown>;
      for (const [names, entry] of Object.entries(entries)) {
        const { verbs = {}, options = "" } = Object(entry) as Record<string, never>;
        const flags = String(options).match(/(?<=^| )--?[\w-]+/g) ?? [];
        for (const name of names.split(", ")) {
          for (const verb of ["", ...Object.keys(verbs).flatMap((all) => all.split(", "))]) {
            const line = `${name} ${verb} x ${flags.map((flag) => `${flag} x`).join(" ")}`;
            assert.doesNotThrow(
              () => judgeCommand(line.replaceAll("*", "x").slice(0, 3_000)),
              line,
            );
          }
        }
      }
    });
  }

  it("are found by one line for a program without options of its own", () => {
    assert.deepEqual(judgeCommand("uptime -p").objections, []);
    assert.equal(judgeCommand("uptimer").objections[0]!.code, "unknown");
  });
});
