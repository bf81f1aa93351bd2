import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BadScript,
  fillArguments,
  loadScripts,
  releaseScripts,
} from "../../../judgement/catalogue/mod.ts";
import { InvalidInput } from "../../../contract/mod.ts";
import { getScript } from "../../../store/catalogue/mod.ts";
import { testFolder } from "../../_run.ts";
import { testStore } from "../../_servers.ts";

const SCRIPT = `
script: say
version: 1
title: Say something
about: Prints a word and ends.
parameters:
  word: { about: The word that is said., pattern: "[a-z ;$]+", default: hello }
argv: [echo, "said:{word}"]
read_only: true
`;

describe("the catalogue", () => {
  const load = async (text: string, name = "say") => {
    const folder = await testFolder();
    await writeFile(join(folder, `${name}.yaml`), text);
    return loadScripts(folder);
  };

  it("ships scripts that say how they are undone, or why they are not", () => {
    const scripts = loadScripts();
    assert.ok(scripts.length >= 12);
    for (const { script, read_only, undo } of scripts) assert.ok(read_only || undo, script);
  });

  it("puts a value into one argument, whatever it holds", async () => {
    const script = (await load(SCRIPT)).find((one) => one.script === "say")!;
    assert.deepEqual(fillArguments(script, {}), ["echo", "said:hello"]);
    assert.deepEqual(fillArguments(script, { word: "a; b $c" }), ["echo", "said:a; b $c"]);
    for (const word of ["-n", "A", "a\nb", ""]) {
      assert.throws(() => fillArguments(script, { word }), InvalidInput, word);
    }
    assert.throws(() => fillArguments(script, { other: "a" }), InvalidInput);
  });

  const mistakes: readonly (readonly [string, string, RegExp])[] = [
    ["an interpreter", SCRIPT.replace("[echo,", "[sh,"), /line 8: .*runs whatever it is given/s],
    ["an unknown parameter", SCRIPT.replace("{word}", "{name}"), /no parameter \{name\}/],
    ["a default of another form", SCRIPT.replace("hello", "HELLO"), /does not match the pattern/],
    ["an unknown field", `${SCRIPT}shell: true\n`, /line 10: shell: unknown field/],
    ["a change without undo", SCRIPT.replace("only: true", "only: false"), /expected undo/],
    ["a missing script", `${SCRIPT}verify: nothing\n`, /there is no script nothing/],
  ];
  for (const [what, text, message] of mistakes) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(load(text), (error: Error) => {
        assert.ok(error instanceof BadScript);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it("releases what has changed, once, sealed, with commitments alone to the user's own", async () => {
    const { store, close } = await testStore();
    try {
      await releaseScripts(store, loadScripts());
      await releaseScripts(store, loadScripts());
      const source = { name: "here:/scripts", exists: true };
      await releaseScripts(store, await load(SCRIPT), source);
      const rows = await store.pool.query("SELECT payload FROM seal_outbox ORDER BY seq");
      const receipts = rows.rows.map(({ payload }) => JSON.parse(payload))
        .filter(({ category }) => category === "script_release");
      assert.equal(receipts.length, 2);
      assert.deepEqual([receipts[1].details.own_changes, receipts[1].details.changes], [1, []]);
      assert.ok(!JSON.stringify(receipts[1]).includes("say"));
      assert.equal((await getScript(store.db, "say"))!.origin, "user");
      const elsewhere = { name: "there:/scripts", exists: true };
      for (const other of [undefined, elsewhere, { ...source, exists: false }]) {
        const [kept] = await releaseScripts(store, loadScripts(), other);
        assert.deepEqual([kept?.name, kept?.source], ["say", "here:/scripts"]);
        assert.equal((await getScript(store.db, "say"))!.origin, "user");
      }
      assert.deepEqual(await releaseScripts(store, loadScripts(), source), []);
      assert.equal(await getScript(store.db, "say"), undefined);
    } finally {
      await close();
    }
  });
});
