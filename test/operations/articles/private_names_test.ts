import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openScrubber } from "../../../operations/articles/writing/mod.ts";
import { ROOT } from "../../../config.ts";
import { measureCpuMs } from "../../_time.ts";

const NOBODY = { own: null, services: [], hosts: [], people: [], others: [] };
const strangers = (...names: string[]) =>
  openScrubber({ ...NOBODY, people: names.map((name) => ({ name, confirmed: false })) });

describe("private names", () => {
  const sentence = "The service stopped on Monday, 23 November 2026, and nobody saw it.";

  it("of strangers that are only words leave articles as they are", () => {
    const words = [
      "and",
      "The",
      "the service",
      "November 2026",
      "Nobody",
      "saw",
      ", and ",
      "STOPPED",
    ];
    const { scrub, find } = strangers(...words);
    assert.deepEqual([scrub(sentence), find(sentence)], [sentence, []]);
  });

  it("of people are taken out, confirmed or not", () => {
    const { scrub, find } = strangers(
      "Wilhelmina Marlowe",
      "Zubrowka",
      "Grace May",
      "Ludwig van Beek",
    );
    const text = "It was Wilhelmina Marlowe, with ZUBROWKA, Grace May and ludwig van beek.";
    assert.equal(scrub(text), "It was somebody, with somebody, somebody and somebody.");
    assert.equal(find(text).length, 4);
    assert.equal(scrub("By grace may it run."), "By grace may it run.");
    const known = openScrubber({ ...NOBODY, people: [{ name: "Will", confirmed: true }] });
    assert.equal(known.scrub("We asked Will, who will look."), "We asked somebody, who will look.");
  });

  it("of strangers that are words as well are taken out where no word has a capital", () => {
    const { scrub, find } = strangers("Mark", "will", "May");
    const text = "Will it help? We asked Mark, Will and Mark's team. Mark it as done, in May 2026.";
    const wanted =
      "Will it help? We asked somebody, somebody and somebody's team. Mark it as done, in May 2026.";
    assert.deepEqual([scrub(text), find(wanted), find(text).length], [wanted, [], 2]);
  });

  it("of roles and organizations are taken out where they name somebody", () => {
    const { scrub } = openScrubber({
      ...NOBODY,
      hosts: ["db7"],
      others: ["program", "ann", "Marlowe"],
    });
    const text =
      "The program on db7:5432 hung. Ann and our Program looked, for Marlowe. It is of Müller & Söhne GmbH.";
    assert.equal(
      scrub(text),
      "The program on the host hung. Somebody and our somebody looked, for somebody. It is of an organization",
    );
  });

  it("may be many", async () => {
    const { scrub } = strangers(...Array.from({ length: 10_000 }, (_, n) => `Ada Q${n} Lovelace`));
    const cpuMs = await measureCpuMs(() => {
      for (let n = 0; n < 50; n++) scrub(sentence);
    });
    assert.ok(cpuMs < 2_000, `${cpuMs} ms`);
  });

  it("know the words of the texts that ship", () => {
    const words = readFileSync(
      join(ROOT, "operations", "articles", "writing", "common_words.txt"),
      "utf8",
    ).split(/\s+/);
    const known = new Set(words);
    const files = readdirSync(join(ROOT, "operations", "articles", "writing"))
      .filter((name) => /_article\.ts$|^_ticket_|^_words|^_facts|\.yaml$/.test(name));
    assert.ok(files.length > 8);
    for (const file of files) {
      const source = readFileSync(join(ROOT, "operations", "articles", "writing", file), "utf8")
        .replace(/^(?:import|export)[^;{]*(?:\{[^}]*\})?[^;{]*from[^;]*;/gm, "");
      const texts = file.endsWith(".yaml")
        ? [source]
        : [...source.matchAll(/"([^"\n]*)"|`([^`]*)`/g)].map(([, a, b]) => a ?? b ?? "");
      const all = texts.flatMap((text) => text.toLowerCase().match(/[a-z]{3,}/g) ?? []);
      const missing = all.filter((word) => word.length < 15 && !known.has(word));
      assert.deepEqual(
        missing,
        [],
        `add the words of ${file} to operations/articles/writing/common_words.txt`,
      );
    }
  });
});
