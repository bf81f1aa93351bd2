/**
 * The log detector on logs that nobody here wrote: Loghub's samples of 2,000 lines, with the templates that their
 * publishers found in them (Zhu, He, He, Liu, Lyu: Loghub, ISSRE 2023). They are no part of the project, so these tests
 * run where a copy lies beside it. `docs/detection.md` has the figures.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import type { DetailedFinding } from "../../detection/mod.ts";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { type TestWorld, testWorld } from "./_world.ts";
import { testLog } from "./_logs.ts";

const DATA = join(ROOT, "..", "shared", "data", "logs");
/** Lines that come between two sweeps. */
const AT_ONCE = 100;
const SOURCE = /\b(\d{1,3}(?:\.\d{1,3}){3})\b/;

/**
 * What an attempt to come in writes, by the publishers' templates: failed and invalid users (E8 to E10, E12 to E14), what
 * PAM says of them (E15 to E21), too many of them (E4, E5), and the warning of a break-in (E27). Not: connections that
 * begin and end, for whatever reason (E2, E3, E6, E7, E11, E22 to E26), and who came in (E1).
 */
const ATTACKS = new Set(
  [4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 27].map((n) => `E${n}`),
);
/** Of a source, any of these is an attempt to come in as somebody who isn't there, or with a wrong password. */
const ATTEMPTS = new Set(["E8", "E9", "E10", "E13", "E14"]);

const linesOf = (name: string) =>
  readFileSync(join(DATA, `${name}_2k.log`), "utf8").trimEnd().split(/\r?\n/);

/** Template of a message, by the publishers' own patterns. */
function templates(name: string): (message: string) => string | undefined {
  const rows = readFileSync(join(DATA, `${name}_2k.templates.csv`), "utf8").trim().split(/\r?\n/);
  const patterns = rows.slice(1).map((row) => {
    const [, id, quoted] = /^(E\d+),(.*)$/.exec(row)!;
    const text = quoted!.replace(/^"(.*)"$/, "$1");
    const parts = text.trim().split("<*>").map((part) =>
      part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+")
    );
    return { id: id!, pattern: new RegExp(`^${parts.join(".*?")}\\s*$`), fixed: text.length };
  }).sort((a, b) => b.fixed - a.fixed);
  return (message) => patterns.find(({ pattern }) => pattern.test(message))?.id;
}

describe("the log detector on real logs", () => {
  let world: TestWorld;
  before(async function () {
    if (!existsSync(DATA)) {
      console.log("      needs the samples of Loghub beside the project (shared/data/logs)");
      return this.skip();
    }
    world = await testWorld("");
  });
  after(() => world?.close());

  /** Feeds a log, some lines for each sweep, after those that are there before the first. */
  async function feed(
    name: string,
    lines: readonly string[],
    before: number,
    settings: { file?: string; block?: string } = {},
  ) {
    await world.store.asPlatform().execute("DELETE FROM findings");
    await world.store.asPlatform().execute("DELETE FROM log_places");
    const log = await testLog(world, `${name}.log`, settings);
    await log.append(...lines.slice(0, before).map((line) => `${line}\n`));
    await log.look();
    const found = new Map<string, DetailedFinding[]>();
    let sweeps = 0;
    for (let from = before; from < lines.length; from += AT_ONCE, sweeps++) {
      await log.append(...lines.slice(from, from + AT_ONCE).map((line) => `${line}\n`));
      const { findings } = await log.look();
      for (const one of findings) {
        const all = found.get(one.fingerprint) ?? [];
        if (all.at(-1)?.observed_at !== one.observed_at) found.set(one.fingerprint, [...all, one]);
      }
    }
    return { found, sweeps };
  }

  it("finds who attacks in OpenSSH's log, and nobody else, as one incident", async () => {
    // Of a day that has been, as a line names no year.
    const day = new Date(Date.now() - 30 * 86_400_000);
    const month = day.toLocaleString("en", { month: "short" });
    const date = `${month} ${String(day.getDate()).padStart(2)}`;
    const lines = linesOf("OpenSSH").map((line) => line.replace(/^Dec 10/, date));
    const templateOf = templates("OpenSSH");
    /** Sources that are told as attacking. */
    const look = async (block = "") => {
      const { found } = await feed("OpenSSH", lines, 0, { file: "error_rate: false", block });
      const attacks = [...found.values()].filter(([one]) => one!.code !== "new_templates");
      assert.equal(attacks.length, 1, "one incident");
      const sources = attacks.flat().flatMap(({ detail }) =>
        detail.sources as { source: string }[]
      );
      return new Set(sources.map(({ source }) => source));
    };
    const told = await look();
    const toldEachByItself = await look("sources: 1000000");

    const connections = new Map<string, string>(); // a line without a source is of its process's connection
    const seen = lines.map((line) => {
      const pid = /sshd\[(\d+)\]/.exec(line)![1]!;
      const message = line.replace(/^.*?sshd\[\d+\]: /, "");
      const source = SOURCE.exec(message)?.[1] ?? connections.get(pid);
      if (source) connections.set(pid, source);
      return { pid, template: templateOf(message), source };
    });
    assert.ok(seen.every(({ template }) => template !== undefined));

    const attackers = new Set(
      seen.filter(({ template }) => ATTEMPTS.has(template!)).map(({ source }) => source!),
    );
    const right = [...told].filter((source) => attackers.has(source)).length;
    const [precision, recall] = [right / told.size, right / attackers.size];

    const attackLines = seen.filter(({ template }) => ATTACKS.has(template!));
    const covered =
      attackLines.filter(({ pid, source }) => told.has(source ?? connections.get(pid) ?? ""))
        .length;
    const alone = [...toldEachByItself].filter((source) => attackers.has(source)).length;
    console.log(
      `      sources: precision ${precision.toFixed(3)} (${right}/${told.size}), recall ` +
        `${
          recall.toFixed(3)
        } (${right}/${attackers.size}); of ${attackLines.length} lines of attacks ` +
        `${covered} are of a source that was told (${
          (covered / attackLines.length).toFixed(3)
        }); ` +
        `judging each source by itself: ${toldEachByItself.size} told, ${alone} rightly`,
    );
    assert.equal(precision, 1);
    assert.ok(recall >= 0.9, `recall ${recall}`);
    assert.ok(covered / attackLines.length >= 0.98);
    assert.ok(!told.has("119.137.62.142"), "who came in without a failure is no attacker");
  });

  for (const [name, before] of [["Apache", 500], ["Zookeeper", 1_000]] as const) {
    it(`makes no storm of ${name}'s ordinary lines`, async () => {
      const { found, sweeps } = await feed(name, linesOf(name), before);
      const codes = [...found.values()].map(([one]) => one!.code).sort();
      console.log(
        `      ${codes.length} incident(s) in ${sweeps} sweeps over ${2_000 - before} lines: ` +
          `${codes.join(", ") || "none"}`,
      );
      assert.ok(codes.length <= 2);
      assert.ok(codes.every((code) => code === "new_templates" || code === "error_rate"));
    });
  }
});
