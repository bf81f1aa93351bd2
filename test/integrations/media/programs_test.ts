import assert from "node:assert/strict";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { ChildFailed, openMediaTools } from "../../../integrations/media/mod.ts";
import { testFolder } from "../../_run.ts";

/** An ffmpeg whose work is a script. */
async function openFfmpeg(work: string) {
  const cwd = await testFolder();
  const path = join(cwd, "ffmpeg");
  const answers = 'case "$2" in -version) echo "ffmpeg version 1";; ' +
    `-encoders) echo " libx264  aac  libmp3lame ";; *) ${work};; esac`;
  await writeFile(path, `#!/bin/sh\n${answers}\n`, { mode: 0o700 });
  const { ffmpeg } = openMediaTools(loadConfig({ SEALOOP_FFMPEG: path }));
  return () => ffmpeg([], { cwd, seconds: 120 });
}

describe("programs", () => {
  const limits = {
    "processor time": "ulimit -t 1; while :; do :; done",
    "file size": "ulimit -f 1; exec dd if=/dev/zero of=out bs=4096 count=1",
  };
  for (const [limit, work] of Object.entries(limits)) {
    it(`that reach a limit of ${limit} are refused, as they would reach it again`, async () => {
      const run = await openFfmpeg(work);
      await assert.rejects(run(), { name: "TooLarge", message: /^ffmpeg was ended at a limit/ });
    });
  }

  it("that fail by themselves or are asked to end may be run again", async () => {
    for (const work of ["exit 1", "kill -TERM $$"]) {
      const run = await openFfmpeg(work);
      await assert.rejects(run(), ChildFailed);
    }
  });

  it("are installed into a cache from which what killed installations left is removed", async () => {
    const [cache, folder] = [await testFolder(), await testFolder()];
    const { XDG_CACHE_HOME: before } = process.env;
    process.env.XDG_CACHE_HOME = cache;
    try {
      const names = ["media-python-1-new-aaaaaa", "media-python-1-new-bbbbbb", "media-python-1"];
      for (const name of names) await mkdir(join(cache, "sealoop", name), { recursive: true });
      const long = new Date(Date.now() - 25 * 3_600_000);
      for (const name of [names[0]!, names[2]!]) {
        await utimes(join(cache, "sealoop", name), long, long);
      }
      const python = join(folder, "python");
      const script = '[ "$1" = -c ] && echo "$0 3 11" || exit 1';
      await writeFile(python, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
      const tools = openMediaTools(loadConfig({ SEALOOP_PYTHON: python }));
      const spoken = tools.python("speak", {}, { cwd: folder, seconds: 60 });
      await assert.rejects(spoken, { name: "NotConfigured" });
      assert.deepEqual((await readdir(join(cache, "sealoop"))).sort(), names.slice(1).sort());
    } finally {
      if (before === undefined) delete process.env.XDG_CACHE_HOME;
      else process.env.XDG_CACHE_HOME = before;
    }
  });
});
