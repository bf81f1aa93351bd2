/**
 * The log detector on published logs: Loghub's samples of 2,000 lines, with the templates of their publishers (Zhu, He, He,
 * Liu, Lyu: Loghub, ISSRE 2023). They are not part of the project: these tests run where a copy lies beside it.
 * `docs/detection.md` has the figures.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import type { DetailedFinding } from "../../../judgement/detection/mod.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { createTestLog } from "./_logs.ts";
import { asSuperuser } from "../../_superuser.ts";

const DATA = join(ROOT, "..", "shared", "data", "logs");
const LINES_PER_SWEEP = 100;
const SOURCE = /\b(\d{1,3}(?:\.\d{1,3}){3})\b/;

/**
 * Templates of the lines of attempts to log in: failed and invalid users (E8 to E10, E12 to E14), PAM's lines about them (E15
 * to E21), too many of them (E4, E5), and the warning of a break-in (E27). Not among them: connections that begin and end
 * for any reason (E2, E3, E6, E7, E11, E22 to E26), and successful logins (E1).
 */
const ATTACKS = new Set(
  [4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 27].map((n) => `E${n}`),
);
/** Templates of attempts with a user that does not exist, or with a wrong password. */
const ATTEMPTS = new Set(["E8", "E9", "E10", "E13", "E14"]);

const linesOf = (name: string) =>
  readFileSync(join(DATA, `${name}_2k.log`), "utf8").trimEnd().split(/\r?\n/);

/** Returns the template of a message, by the publishers' own patterns. */
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
  let context: TestContext;
  before(async function () {
    if (!existsSync(DATA)) {
      console.log("      needs the samples of Loghub beside the project (shared/data/logs)");
      return this.skip();
    }
    context = await createTestContext("");
  });
  after(() => context?.close());

  /** Appends lines to a log, some before each sweep. @param before lines that are there before the first sweep */
  async function feed(
    name: string,
    lines: readonly string[],
    before: number,
    settings: { file?: string; block?: string } = {},
  ) {
    await asSuperuser(context.store).execute("DELETE FROM findings");
    await asSuperuser(context.store).execute("DELETE FROM log_places");
    const log = await createTestLog(context, `${name}.log`, settings);
    await log.append(...lines.slice(0, before).map((line) => `${line}\n`));
    await log.sweep();
    const found = new Map<string, DetailedFinding[]>();
    let sweeps = 0;
    for (let from = before; from < lines.length; from += LINES_PER_SWEEP, sweeps++) {
      await log.append(...lines.slice(from, from + LINES_PER_SWEEP).map((line) => `${line}\n`));
      const { findings } = await log.sweep();
      for (const one of findings) {
        const all = found.get(one.fingerprint) ?? [];
        if (all.at(-1)?.observed_at !== one.observed_at) found.set(one.fingerprint, [...all, one]);
      }
    }
    return { found, sweeps };
  }

  it("finds all attackers in OpenSSH's log, and nobody else, as one incident", async () => {
    // A line has no year, so the day must be in the past.
    const day = new Date(Date.now() - 30 * 86_400_000);
    const month = day.toLocaleString("en", { month: "short" });
    const date = `${month} ${String(day.getDate()).padStart(2)}`;
    const lines = linesOf("OpenSSH").map((line) => line.replace(/^Dec 10/, date));
    const templateOf = templates("OpenSSH");
    /** Lists the sources that are reported. */
    const findSources = async (block = "") => {
      const { found } = await feed("OpenSSH", lines, 0, { file: "error_rate: false", block });
      const attacks = [...found.values()].filter(([one]) => one!.code !== "new_templates");
      assert.equal(attacks.length, 1, "one incident");
      const sources = attacks.flat().flatMap(({ detail }) =>
        detail.sources as { source: string }[]
      );
      return new Set(sources.map(({ source }) => source));
    };
    const reported = await findSources();
    const reportedAlone = await findSources("sources: 1000000");

    const connections = new Map<string, string>(); // a line without a source belongs to the connection of its process
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
    const right = [...reported].filter((source) => attackers.has(source)).length;
    const [precision, recall] = [right / reported.size, right / attackers.size];

    const attackLines = seen.filter(({ template }) => ATTACKS.has(template!));
    const covered =
      attackLines.filter(({ pid, source }) => reported.has(source ?? connections.get(pid) ?? ""))
        .length;
    const alone = [...reportedAlone].filter((source) => attackers.has(source)).length;
    console.log(
      `      sources: precision ${precision.toFixed(3)} (${right}/${reported.size}), recall ` +
        `${
          recall.toFixed(3)
        } (${right}/${attackers.size}); of ${attackLines.length} lines of attacks ` +
        `${covered} are of a reported source (${(covered / attackLines.length).toFixed(3)}); ` +
        `judging each source alone: ${reportedAlone.size} reported, ${alone} correctly`,
    );
    assert.equal(precision, 1);
    assert.ok(recall >= 0.9, `recall ${recall}`);
    assert.ok(covered / attackLines.length >= 0.98);
    assert.ok(!reported.has("119.137.62.142"), "a login without a failure is no attack");
  });

  for (const [name, before] of [["Apache", 500], ["Zookeeper", 1_000]] as const) {
    it(`finds hardly anything in ${name}'s ordinary lines`, async () => {
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
