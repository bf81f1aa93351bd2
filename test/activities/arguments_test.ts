import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createAllActivities, mergeActivities, openParts } from "../workflows/_loop.ts";
import { ACTIVITY_ARGUMENTS } from "../../activities/arguments/mod.ts";

/** Values that nobody may pass for an id, a name, or a whole argument. */
const FOREIGN: readonly unknown[] = [
  "x/../../../victim",
  "../victim",
  "/etc/passwd",
  "a\0b",
  "..",
  -1,
  1.5,
  null,
  true,
  [],
  {},
  [["../victim"]],
];
const QUIET = new DefaultLogger("ERROR", () => {});

type Work = (...args: unknown[]) => Promise<unknown>;

describe("activities", () => {
  let parts: Awaited<ReturnType<typeof openParts>>;
  let byQueue: ReturnType<typeof createAllActivities>;
  let activities: Readonly<Record<string, Work>>;

  before(async () => {
    parts = await openParts();
    const { stopping, ...rest } = parts;
    byQueue = createAllActivities({ ...rest, stopping: stopping.signal });
    activities = mergeActivities(byQueue) as never;
  });
  after(() => parts.close());

  const run = (name: string, args: readonly unknown[]) =>
    new MockActivityEnvironment({}, { logger: QUIET }).run(activities[name]!, ...args);

  it("are each on one kind of queue, so that what touches a machine is on its place's alone", () => {
    const { itsm, ledger, act, media, sequencer } = byQueue;
    assert.deepEqual(Object.keys(ledger), Object.keys(itsm));
    const kinds = [itsm, act, media, sequencer].map((one) => Object.keys(one));
    const all = kinds.flat();
    assert.equal(new Set(all).size, all.length);
    assert.deepEqual([...all].sort(), Object.keys(activities).sort());
    const acts = ["detect", "observe", "runDetectors", "remediate", "verify", "undo", "findChange"];
    assert.deepEqual(acts.filter((name) => !(name in act)), []);
  });

  it("have each a schema of their arguments", () => {
    assert.deepEqual(Object.keys(ACTIVITY_ARGUMENTS).sort(), Object.keys(activities).sort());
  });

  it("take no argument that is not of its schema, and touch nothing", async () => {
    const victim = join(parts.config.dataDir, "victim");
    mkdirSync(victim, { recursive: true });
    writeFileSync(join(victim, "file"), "stays");
    const before = listAll(parts.config.dataDir);
    for (const name of Object.keys(activities)) {
      for (const foreign of FOREIGN) {
        const first = { id: foreign, run: foreign, ticket_id: foreign, service: foreign };
        for (const args of [[foreign, "one too many"], [first, first, first, first, first]]) {
          await assert.rejects(
            run(name, ["platform", ...args]),
            { type: "InvalidInput", nonRetryable: true },
            `${name}(${JSON.stringify(args)})`,
          );
        }
      }
      await assert.rejects(run(name, [{ tenant: "platform" }]), { type: "InvalidInput" }, name);
    }
    assert.deepEqual(listAll(parts.config.dataDir), before);
  });

  it("refuse an id that leads out of the folder of drills", async () => {
    const victim = join(parts.config.dataDir, "victim");
    mkdirSync(victim, { recursive: true });
    const requested = { scenario: "crash", requested_by: "key:1", service: "x/../../victim" };
    for (const id of ["x/../../../victim", "x/../../victim", "../victim", victim]) {
      for (
        const name of ["removeTestService", "prepareTestService", "removeSandbox", "openSandbox"]
      ) {
        await assert.rejects(run(name, ["platform", { id, ...requested }]), {
          type: "InvalidInput",
        });
      }
      await assert.rejects(
        run("breakTestService", ["platform", { id: "0a1b2c3d", ...requested }]),
        { type: "InvalidInput" },
      );
    }
    assert.ok(existsSync(victim));
  });
});

/** Returns the paths of all files below a folder, with their texts. */
function listAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${readFileSync(path).toString("base64")}`)
    .sort();
}
