import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { SETTINGS_FILES } from "../../contract/domain/mod.ts";
import { BadFile, type FollowedFile } from "../../integrations/files/mod.ts";
import { filesOf, followSettingsFile, putConfig } from "../../integrations/settings_files/mod.ts";
import { putPolicyFile } from "../../judgement/guard/mod.ts";
import { followReadFiles } from "../../processes/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import {
  findConfigInForce,
  findSettingsFile,
  listConfigDrift,
  listConfigVersions,
  reportProcesses,
} from "../../store/platform/mod.ts";
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

  const settingsOf = (settings: Readonly<Record<string, string>>) =>
    loadConfig({ SEALOOP_DATA: dirname(path), ...settings });

  type Name = "policy" | "shield" | "models" | "comms";

  /** Follows the file of the test's folder, which is wrong where it says so. @param settings of the machine */
  async function follow(
    name: Name,
    store: Store,
    settings: Readonly<Record<string, string>> = {},
    apply?: (path: string, exists: boolean) => void,
  ) {
    const check = (path: string) => {
      if (existsSync(path) && /wrong/.test(readFileSync(path, "utf8"))) {
        throw new BadFile([{ line: 3, column: 5, text: "a.b: is wrong", open: "is wrong" }]);
      }
    };
    const config = settingsOf({
      SEALOOP_PLACE: "n1",
      [SETTINGS_FILES[name].setting]: path,
      ...settings,
    });
    const followed = await followSettingsFile({ name, check, ...(apply && { apply }) }, {
      config,
      store,
      log: createLog("test", "silent"),
    });
    following.push(followed);
    return followed;
  }
  async function write(content: string, followed: FollowedFile, path_ = path): Promise<void> {
    writeFileSync(path_, content);
    utimesSync(path_, 0, ++writes); // two writes may have one time
    await followed.refresh();
  }
  const told = async () => {
    const { messages } = await listMessages(opened.store.asPlatform(), {}, 100);
    return messages.filter(({ kind }) => kind.startsWith("settings.")).map(({ subject, text }) => ({
      subject,
      text,
    }));
  };
  const record = (name: Name) => findSettingsFile(opened.store.asPlatform(), name);

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
      [refused.state, refused.place, refused.host, refused.mistakes],
      ["refused", "n1", hostname(), [{
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

  it("that was in force and is removed is refused, as it stays in force", async () => {
    const followed = await follow("models", opened.store);
    await write("right", followed);
    rmSync(path);
    await followed.refresh();
    assert.equal((await record("models"))!.state, "refused");
    const [mistake] = (await record("models"))!.mistakes;
    assert.match(mistake!.text, /does not exist any more, .*; an empty file takes it back/);
  });

  it("has no file outside of its folder", () => {
    for (const name of ["../a.yaml", "/a.yaml", "b/../../a.yaml", ".."]) {
      assert.throws(
        () => filesOf(JSON.stringify({ [name]: "" })),
        /expected the name of a YAML file/,
      );
    }
    assert.deepEqual(filesOf('{"a.yaml":"","b.yml":""}'), { "a.yaml": "", "b.yml": "" });
  });

  describe("with three workers on one database", () => {
    /** Starts a worker of a place with a file of its own. @param text absent: it has none */
    async function startWorker(place: string, text?: string) {
      const folder = await testFolder();
      const own = join(folder, "sealoop.comms.yaml");
      if (text !== undefined) writeFileSync(own, text);
      let inForce: string | null = null;
      const settings = { SEALOOP_DATA: folder, SEALOOP_PLACE: place, SEALOOP_COMMS: own };
      const followed = await follow("comms", opened.store, settings, (path, exists) => {
        inForce = exists ? readFileSync(path, "utf8") : null;
      });
      return { own, followed, inForce: () => inForce };
    }
    const drift = async () =>
      (await listConfigDrift(opened.store.asPlatform())).map(({ name, place, version }) => [
        name,
        place,
        version,
      ]);
    const versions = async () =>
      (await listConfigVersions(opened.store.asPlatform(), { file: "comms", place: "" }, 10))
        .map(({ version, fromPlace, putBy }) => [version, fromPlace, putBy]);

    it("keeps in force what one place put, without, with older and with wrong files elsewhere", async () => {
      const processes = await storeAs(opened.store, "worker");
      await reportProcesses(processes.asPlatform(), [{
        id: randomUUID(),
        name: "worker",
        host: hostname(),
        pid: 1,
        version: "1",
        restarts: null,
        status: "running",
        waitsFor: null,
        polls: null,
      }]);
      const first = await startWorker("n1", "older");
      await write("newest", first.followed, first.own);
      assert.deepEqual(await versions(), [[2, "n1", null], [1, "n1", null]]);

      const without = await startWorker("n2");
      const older = await startWorker("n3", "older");
      const wrong = await startWorker("n4", "wrong");
      for (const worker of [first, without, older, wrong]) {
        await worker.followed.refresh();
        assert.equal(worker.inForce(), "newest");
      }
      assert.equal((await versions()).length, 2);
      assert.deepEqual(await drift(), [["comms", "n3", 2], ["comms", "n4", 2]]);
      assert.match((await told())[0]!.text, /^version 2 of the file of who is told stays in force/);

      await write("newest", older.followed, older.own);
      rmSync(wrong.own);
      await wrong.followed.refresh();
      assert.deepEqual(await drift(), []);

      const put = { sha256: "00", content: "by a command" };
      const file = { file: "comms", place: "" } as const;
      const operator = await storeAs(opened.store, "operator");
      assert.deepEqual(await putConfig(operator, file, put, "robin"), { version: 3, before: 2 });
      assert.equal(await putConfig(operator, file, put, "robin"), undefined);
      for (const worker of [first, without, older]) await worker.followed.refresh();
      assert.equal(without.inForce(), "by a command");
      await write("another", first.followed, first.own);
      assert.equal(first.inForce(), "by a command", "a command has taken it over");
      assert.deepEqual(await drift(), [["comms", "n1", 3], ["comms", "n3", 3]]);
      const sealed = await opened.store.db.query<{ readonly payload: string }>(
        "SELECT payload FROM seal_outbox WHERE payload::json ->> 'subject' = 'config:comms' ORDER BY seq",
      );
      assert.deepEqual(
        sealed.map(({ payload }) => JSON.parse(payload).details).map(({ version, by }) => [
          version,
          by,
        ]),
        [[1, "file"], [2, "file"], [3, "command"]],
      );
      assert.doesNotMatch(JSON.stringify(sealed), /n1|robin|newest/);
    });

    it("puts the file of the place that the setting names, once for each change", async () => {
      const named = { SEALOOP_PLACE: "n5", SEALOOP_CONFIG_PLACE: "n5" };
      writeFileSync(path, "of n5");
      const followed = await follow("comms", opened.store, named);
      const before = (await versions()).length;
      assert.deepEqual((await versions())[0]!.slice(1), ["n5", null]);
      const operator = await storeAs(opened.store, "operator");
      const file = { file: "comms", place: "" } as const;
      await putConfig(operator, file, { sha256: "01", content: "other" }, "robin");
      await followed.refresh();
      assert.equal((await versions()).length, before + 1, "the file has not changed since");
      const renamed = { SEALOOP_PLACE: "n6", SEALOOP_CONFIG_PLACE: "n6" };
      (await follow("comms", opened.store, renamed)).stop();
      assert.equal((await versions()).length, before + 1, "nor has it where its host was renamed");
      assert.equal(
        (await told())[0]!.subject,
        "sealoop.policy.yaml of n6 differs from what is in force",
      );
      await write("of n5, edited", followed);
      assert.equal((await versions()).length, before + 2);
    });

    it("tells of a version that a process can't read, though another has put it", async () => {
      const operator = await storeAs(opened.store, "operator");
      const file = { file: "pipelines", place: "" } as const;
      await putConfig(operator, file, { sha256: "02", content: "newer: true" }, "robin");
      const config = { ...settingsOf({ SEALOOP_PLACE: "n7" }), readsCopies: true as const };
      const store = await storeAs(opened.store, "worker");
      const log = createLog("test", "silent");
      following.push(...await followReadFiles({ config, store, log }, { puts: true }));
      const { state, place, mistakes } =
        (await findSettingsFile(opened.store.asPlatform(), "pipelines"))!;
      assert.deepEqual([state, place], ["refused", "n7"]);
      assert.equal(mistakes[0]!.text, "pipelines: missing; expected array");
    });

    it("has the worker put the guardrails' policy, as its engine may be elsewhere", async () => {
      writeFileSync(path, "freezes: []");
      const config = settingsOf({
        SEALOOP_PLACE: "n8",
        SEALOOP_CONFIG_PLACE: "n8",
        SEALOOP_POLICY: path,
      });
      const store = await storeAs(opened.store, "worker");
      following.push(await putPolicyFile({ config, store, log: createLog("test", "silent") }));
      const file = { file: "policy", place: "" } as const;
      const inForce = await findConfigInForce(opened.store.asPlatform(), file);
      assert.deepEqual([inForce?.content, inForce?.fromPlace], ["freezes: []", "n8"]);
    });

    it("lets the engine put the guardrails' policy and no other file", async () => {
      const engine = await storeAs(opened.store, "engine");
      writeFileSync(path, "right");
      const settings = { SEALOOP_PLACE: "n1", SEALOOP_CONFIG_PLACE: "n1" };
      await follow("shield", engine, settings);
      const inForce = await findConfigInForce(opened.store.asPlatform(), {
        file: "shield",
        place: "",
      });
      assert.equal(inForce, undefined);
    });
  });
});
