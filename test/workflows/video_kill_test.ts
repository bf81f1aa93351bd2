import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FilmResult, WORKFLOW } from "../../contract/domain/mod.ts";
import { skipWithoutMedia } from "../integrations/media/_media.ts";
import { eventually } from "../_time.ts";
import { type LoopBench, openLoopBench } from "./_loop_bench.ts";
import { addVideoProject, getVideoProject, listScenes } from "../../store/media/mod.ts";

const QUEUE = "itsm-videos";
const SCENES = [
  "The billing service stopped.",
  "A certificate had expired.",
  "Nobody had been told about it.",
  "We made a new one.",
  "The service answers again.",
  "A reminder is set.",
].map((text, index) => ({ heading: `Part ${index + 1}`, text }));

describe("a film whose worker is killed with -9 at scene 3 of 6", () => {
  let bench: LoopBench;

  before(async function () {
    await skipWithoutMedia(this);
    bench = await openLoopBench();
  });
  after(() => bench?.close());

  async function startFilm(id: string) {
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
    return await bench.client.workflow.start(WORKFLOW.video, {
      taskQueue: QUEUE,
      workflowId: `video-${id}`,
      args: [{ id, scenes: SCENES.length, requested_by: "key:k" }],
    });
  }

  const attemptsOf = async (id: string) =>
    (await listScenes(bench.store.asPlatform(), id)).map(({ attempts }) => attempts);

  it("makes no finished scene again, and the same film as an undisturbed run", async () => {
    const first = await bench.worker(QUEUE);
    first.begin();
    const killed = await startFilm("VID-0000000000a1");
    await eventually(
      async () => (await attemptsOf("VID-0000000000a1"))[2] === 1 || undefined,
    );
    await eventually(
      async () => (await listPrograms(bench.dataDir)).length > 0 || undefined,
    );
    first.kill();
    await first.ended;
    await eventually(
      async () => (await listPrograms(bench.dataDir)).length === 0 || undefined,
    );
    const second = await bench.worker(QUEUE);
    second.begin();
    const { unsigned_sha256, artifacts } = await killed.result() as FilmResult;
    assert.deepEqual(await attemptsOf("VID-0000000000a1"), [1, 1, 2, 1, 1, 1]);

    const undisturbed = await (await startFilm("VID-0000000000b2")).result() as FilmResult;
    assert.deepEqual(await attemptsOf("VID-0000000000b2"), [1, 1, 1, 1, 1, 1]);
    assert.equal(unsigned_sha256, undisturbed.unsigned_sha256);
    assert.equal(artifacts.vtt, undisturbed.artifacts.vtt);
    assert.notEqual(artifacts.mp4, undisturbed.artifacts.mp4); // their receipts differ
    const project = await getVideoProject(bench.store.asPlatform(), "VID-0000000000a1");
    assert.equal(project?.state, "done");
  });
});

/** Lists the programs that work in a data folder. */
async function listPrograms(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, "media", "work");
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/environ`, "utf8").catch(() => "")),
  );
  return lines.filter((environ) => environ.includes(`HOME=${folder}`));
}
