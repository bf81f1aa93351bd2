import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testFolder } from "../_run.ts";
import { countRuns } from "./_device.ts";
import { type Fields, RunnerScene } from "./_runner.ts";

const TEN_YEARS = 10 * 365 * 24 * 3600;

describe("the runner, as time passes,", function () {
  const scene = new RunnerScene();

  it("lets a command end as expired whose begun receipt comes too late, and takes the next", async () => {
    scene.start();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    await scene.deliver(await scene.issue(1, { expires_at }));
    scene.ledger.clockOffsetMs = 120_000;
    assert.equal((await scene.sealUntilEnded()).status, "expired");
    await scene.deliver(await scene.issue(2));
    assert.equal((await scene.sealUntilEnded()).status, "done");
    assert.equal(countRuns(scene.device), 1);
  });

  it("does not run a command whose begun receipt somebody held back until it expired", async () => {
    scene.start();
    const expires = Date.now() + 10_000;
    await scene.deliver(await scene.issue(1, { expires_at: new Date(expires).toISOString() }));
    const body = (await scene.runner.take("statement")).body as Fields;
    const { record, salt } = scene.gateway.seal(scene.device.id, body); // in time
    await sleep(expires + 500 - Date.now());
    scene.runner.send({ type: "sealed", sequence: body.sequence, record, salt });
    assert.equal((await scene.sealUntilEnded()).status, "expired");
    assert.equal(countRuns(scene.device), 0);
  });

  for (const years of [10, -10]) {
    it(`keeps its time where one receipt is dated ${years} years off`, async () => {
      scene.start();
      const off = years * 365 * 24 * 3_600_000;
      await scene.deliver(await scene.issue(1));
      assert.equal((await scene.sealUntilEnded()).status, "done");
      for (const [n, sequence] of [2, 4, 6].entries()) {
        scene.ledger.clockOffsetMs = off;
        const wrong = await scene.issue(
          sequence,
          n === 1 ? { expires_at: "2099-01-01T00:00:00Z" } : {},
        );
        scene.ledger.clockOffsetMs = 0;
        await scene.deliver(wrong);
        await scene.sealUntilEnded();
        const next = await scene.deliver(await scene.issue(sequence + 1));
        assert.equal(next.result, "begun", String(next.reason));
        assert.equal((await scene.sealUntilEnded()).status, "done");
      }
    });
  }

  it("keeps its time where the very first receipt that it sees is dated years ahead", async () => {
    scene.start();
    scene.ledger.clockOffsetMs = 10 * 365 * 24 * 3_600_000;
    const wrong = await scene.issue(1);
    scene.ledger.clockOffsetMs = 0;
    assert.equal((await scene.deliver(wrong)).code, "expired");
    await scene.sealUntilEnded();
    await scene.runner.stop();
    scene.start();
    await scene.deliver(await scene.issue(2));
    assert.equal((await scene.sealUntilEnded()).status, "done");
    const late = { expires_at: new Date(Date.now() - 60_000).toISOString() };
    assert.equal((await scene.deliver(await scene.issue(3, late))).code, "expired");
  });

  for (const [name, shift] of [["ahead", TEN_YEARS], ["behind", -TEN_YEARS]] as const) {
    it(`works where the machine's clock is ten years ${name}`, async function () {
      const preload = await buildClockShim();
      if (!preload) return this.skip();
      const env = { LD_PRELOAD: preload, CLOCK_SHIFT_SECONDS: String(shift) };
      const python = "import time; print(int(time.time()))";
      const shown = execFileSync("python3", ["-I", "-c", python], {
        env: { ...process.env, ...env },
      });
      assert.ok(
        Math.abs(Number(shown) - Date.now() / 1000 - shift) < 60,
        "the clock is not shifted",
      );
      scene.start(env);
      await scene.deliver(await scene.issue());
      assert.equal((await scene.sealUntilEnded()).status, "done");
      const late = await scene.issue(2, { expires_at: new Date(Date.now() - 1000).toISOString() });
      assert.equal((await scene.deliver(late)).code, "expired");
    });
  }
});

/** Builds a library that shifts the wall clock of a program, as libfaketime does; undefined: there is no C compiler. */
async function buildClockShim(): Promise<string | undefined> {
  const folder = await testFolder();
  writeFileSync(
    join(folder, "shift.c"),
    `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) { return atol(getenv("CLOCK_SHIFT_SECONDS")); }
int clock_gettime(clockid_t id, struct timespec *at) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += shift();
  return result;
}
int gettimeofday(struct timeval *at, void *zone) {
  int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(at, zone);
  at->tv_sec += shift();
  return result;
}
time_t time(time_t *out) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (out) *out = at.tv_sec;
  return at.tv_sec;
}
`,
  );
  try {
    const library = join(folder, "shift.so");
    execFileSync("cc", ["-shared", "-fPIC", "-o", library, join(folder, "shift.c"), "-ldl"]);
    return library;
  } catch {
    return undefined;
  }
}
