import assert from "node:assert/strict";
import { hostname } from "node:os";
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadFile, type FollowedFile } from "../../integrations/files/mod.ts";
import { followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { findSettingsFile } from "../../store/platform/mod.ts";
import { testFolder } from "../_run.ts";
import { storeAs, testStore } from "../_servers.ts";

describe("a settings file", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  let path: string;
  let writes = 0;
  const following: FollowedFile[] = [];
  before(async () => {
    opened = await testStore();
  });
  beforeEach(async () => {
    path = join(await testFolder(), "sealoop.policy.yaml");
  });
  afterEach(() => following.splice(0).forEach((one) => one.stop()));
  after(() => opened.close());

  /** Follows the file, which is wrong where it says so. */
  async function follow(name: "policy" | "peers" | "shield" | "models", store: Store) {
    const apply = () => {
      if (/wrong/.test(readText())) {
        throw new BadFile([{ line: 3, column: 5, text: "a.b: is wrong", open: "is wrong" }]);
      }
    };
    const followed = await followSettingsFile(
      { name, path, apply },
      store,
      createLog("test", "silent"),
    );
    following.push(followed);
    return followed;
  }
  let text = "";
  const readText = () => text;
  async function write(content: string, followed: FollowedFile): Promise<void> {
    text = content;
    writeFileSync(path, content);
    utimesSync(path, 0, ++writes); // two writes may have one time
    await followed.refresh();
  }
  const told = async () => {
    const { messages } = await listMessages(opened.store.asPlatform(), {}, 100);
    return messages.filter(({ kind }) => kind.startsWith("settings.")).map(({ subject, text }) => ({
      subject,
      text,
    }));
  };
  const record = (name: "policy" | "peers" | "shield" | "models") =>
    findSettingsFile(opened.store.asPlatform(), name);

  it("that is taken, refused and mended is told each time, once, with line and what holds meanwhile", async () => {
    const before = (await told()).length;
    const followed = await follow("policy", opened.store);
    const other = await follow("policy", await storeAs(opened.store, "engine"));
    const write2 = async (content: string) => {
      await write(content, followed);
      await other.refresh();
    };
    assert.equal(await record("policy"), undefined, "there is no file, and none is needed");
    await write2("right");
    await write2("wrong");
    const refused = (await record("policy"))!;
    assert.deepEqual(
      [refused.state, refused.host, refused.mistakes],
      ["refused", hostname(), [{
        file: path,
        line: 3,
        column: 5,
        text: "a.b: is wrong",
        open: "is wrong",
      }]],
    );
    await write2("right");
    const mended = (await record("policy"))!;
    assert.equal(mended.state, "taken");
    assert.deepEqual(mended.takenAt, refused.takenAt, "it holds what held before");
    const [last, middle, first, ...earlier] = await told();
    assert.equal(earlier.length, before);
    assert.deepEqual([first, middle, last].map((one) => one!.subject), [
      "sealoop.policy.yaml was taken",
      "sealoop.policy.yaml was refused",
      "sealoop.policy.yaml was mended and taken",
    ]);
    assert.match(
      middle!.text,
      /^sealoop\.policy\.yaml:3:5: a\.b: is wrong\nwhat it said before stays in force, as since /,
    );
  });

  it("that was never in force says what holds without it", async () => {
    const followed = await follow("shield", opened.store);
    await write("wrong", followed);
    assert.match(
      (await told())[0]!.text,
      /nothing of it was ever in force: the policies that ship are in force/,
    );
  });

  it("that was in force and is removed is refused, as it stays in force; one that is read at each use is not", async () => {
    for (const [name, state] of [["models", "refused"], ["peers", "taken"]] as const) {
      const followed = await follow(name, opened.store);
      await write("right", followed);
      rmSync(path);
      await followed.refresh();
      assert.equal((await record(name))!.state, state);
    }
    const [mistake] = (await record("models"))!.mistakes;
    assert.match(mistake!.text, /does not exist any more, .*; an empty file takes it back/);
  });
});
