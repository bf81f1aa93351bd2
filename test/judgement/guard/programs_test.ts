import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../config.ts";
import { judgeCommand, parsePrograms } from "../../../judgement/guard/shell/mod.ts";

const FOLDER = join(ROOT, "judgement", "guard", "programs");

describe("the entries of judgement/guard/programs", () => {
  for (const file of readdirSync(FOLDER)) {
    it(`name only kinds and expressions that there are, in ${file}`, () => {
      const entries = parse(readFileSync(join(FOLDER, file), "utf8")) as Record<string, unknown>;
      for (const [names, entry] of Object.entries(entries)) {
        const { verbs = {}, options = "" } = Object(entry) as Record<string, never>;
        const listed = typeof options === "string" ? options : Object.values(options).join(" ");
        const flags = listed.match(/(?<=^| )--?[\w-]+/g) ?? [];
        for (const name of names.split(", ")) {
          for (const verb of ["", ...Object.keys(verbs).flatMap((all) => all.split(", "))]) {
            const line = `${name} ${verb} x ${flags.map((flag) => `${flag} x`).join(" ")}`;
            assert.doesNotThrow(
              () => judgeCommand(line.replaceAll(/<\w+>/g, "x").slice(0, 3_000)),
              line,
            );
          }
        }
      }
    });
  }

  for (
    const [what, entry, message] of [
      ["without a list of options", '{ why: "Shows text.", args: text }', /list of options/],
      ["whose options are any", '{ why: "Shows text.", options: any, args: text }', /one by one/],
      [
        "with a pattern for a verb",
        '{ why: "Shows text.", options: "", verbs: { "list-*": text } }',
        /written out/,
      ],
      [
        "with a pattern for a group of verbs",
        '{ why: "Shows text.", options: "", looks: { "*": "list" } }',
        /written out/,
      ],
      [
        "whose list leaves a program out",
        '{ why: "Shows text.", options: { other: "-a" }, args: text }',
        /no options/,
      ],
    ] as const
  ) {
    it(`are refused ${what}`, () => {
      assert.throws(() => parsePrograms(`shown: ${entry}`), message);
    });
  }

  it("are refused with a pattern for a program", () => {
    assert.throws(() => parsePrograms('"show*": Shows text.'), /written out/);
  });

  it("give each program the options of its own", () => {
    assert.deepEqual(judgeCommand("seq -w 1 3").objections, []);
    assert.equal(judgeCommand("factor -w 12").objections[0]!.code, "unknown");
  });

  it("are found by one line for a program without options of its own", () => {
    assert.deepEqual(judgeCommand("uptime -p").objections, []);
    assert.equal(judgeCommand("uptimer").objections[0]!.code, "unknown");
  });
});
