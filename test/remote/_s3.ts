/** A server that speaks the protocol of S3, built from its Go module, with its bucket in a folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGo, type Download } from "../_download.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";

/** A bucket that is served. */
export interface TestBucket {
  /** Settings of a platform that keeps its blobs there. */
  readonly settings: Readonly<Record<string, string>>;
  /** Path of what lies under a key. */
  fileOf(key: string): string;
  close(): Promise<void>;
}

const KEY = { SEALOOP_BLOBS_KEY_ID: "of-a-test", SEALOOP_BLOBS_SECRET: "secret/of+a test" };

/** Builds the server once. */
export const fetchS3 = (): Promise<Download> =>
  buildGo("versitygw", "github.com/versity/versitygw/cmd/versitygw");

/** Starts it with an empty bucket. @param folder that its program is in */
export async function startBucket(folder: string): Promise<TestBucket> {
  const root = mkdtempSync(join(tmpdir(), "s3-"));
  const port = await freePort();
  const bucket = join(root, "blobs");
  mkdirSync(bucket); // a folder of the root is a bucket
  const server: ChildProcess = spawn(join(folder, "versitygw"), [
    ...["--port", `127.0.0.1:${port}`],
    ...["--access", KEY.SEALOOP_BLOBS_KEY_ID, "--secret", KEY.SEALOOP_BLOBS_SECRET],
    ...["--region", "test-1", "--quiet"],
    "posix",
    root,
  ], { stdio: "ignore", env: { PATH: process.env.PATH } });
  const ended = once(server, "exit");
  await eventually(async () => {
    if (server.exitCode !== null) throw new Error(`versitygw ended with ${server.exitCode}`);
    return await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => undefined);
  });
  return {
    settings: {
      ...KEY,
      SEALOOP_BLOBS_URL: `http://127.0.0.1:${port}/blobs/sealoop`,
      SEALOOP_BLOBS_REGION: "test-1",
    },
    fileOf: (key) => join(bucket, "sealoop", key),
    async close() {
      server.kill();
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}
