/** Films, whose scenes are made one after the other. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { WorkflowHandle } from "@temporalio/client";
import { type FilmResult, WORKFLOW } from "../../../contract/domain/mod.ts";
import { addVideoProject, getVideoProject, listScenes } from "../../../store/media/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { findMissingMedia, skipWithoutMedia } from "../../integrations/media/_media.ts";
import { eventually } from "../../_time.ts";
import type { KillSubject, Stage } from "../_kill_stage.ts";

const [KILLED, UNDISTURBED] = ["VID-0000000000a1", "VID-0000000000b2"];
const SCENES = [
  "The billing service stopped.",
  "A certificate had expired.",
  "Nobody had been told about it.",
  "We made a new one.",
  "The service answers again.",
  "A reminder is set.",
].map((text, index) => ({ heading: `Part ${index + 1}`, text }));

/** Kills of films. */
export const videoKills: KillSubject = {
  skip: skipWithoutMedia,
  rows: [{
    name:
      "a film at scene 3 of 6: no finished scene is made again, and it is the same film as of an undisturbed run",
    async run(stage) {
      if (await findMissingMedia() !== undefined) return; // it is skipped
      const { store, dataDir } = stage.bench;
      const killed = await startFilm(stage, KILLED);
      const isAt3 = async () => (await attemptsOf(store, KILLED))[2] === 1 || undefined;
      const works = async () => (await listPrograms(dataDir)).length > 0;
      await stage.killed(
        eventually(isAt3).then(() => eventually(async () => await works() || undefined)),
      );
      await eventually(async () => !await works() || undefined);
      await stage.next();
      const { unsigned_sha256, artifacts } = await killed.result() as FilmResult;
      assert.deepEqual(await attemptsOf(store, KILLED), [1, 1, 2, 1, 1, 1]);

      const run = await startFilm(stage, UNDISTURBED);
      const undisturbed = await run.result() as FilmResult;
      assert.deepEqual(await attemptsOf(store, UNDISTURBED), [1, 1, 1, 1, 1, 1]);
      assert.equal(unsigned_sha256, undisturbed.unsigned_sha256);
      assert.equal(artifacts.vtt, undisturbed.artifacts.vtt);
      assert.notEqual(artifacts.mp4, undisturbed.artifacts.mp4); // their receipts differ
      const project = await getVideoProject(store.asPlatform(), KILLED);
      assert.equal(project?.state, "done");
    },
  }],
};

async function startFilm({ bench, start }: Stage, id: string): Promise<WorkflowHandle> {
  const project = {
    id,
    kind: "film",
    title: "A film",
    format: "landscape",
    captions: true,
  } as const;
  await bench.store.asPlatform().transaction((trx) =>
    addVideoProject(trx, { ...project, requestedBy: "key:k", scenes: SCENES })
  );
  const request = { id, scenes: SCENES.length, requested_by: "key:k" };
  return await start(WORKFLOW.video, `video-${id}`, request);
}

async function attemptsOf(store: Store, id: string): Promise<number[]> {
  return (await listScenes(store.asPlatform(), id)).map(({ attempts }) => attempts);
}

/** Lists the programs that work in a data folder. */
async function listPrograms(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, "media", "work");
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/environ`, "utf8").catch(() => "")),
  );
  return lines.filter((environ) => environ.includes(`HOME=${folder}`));
}
