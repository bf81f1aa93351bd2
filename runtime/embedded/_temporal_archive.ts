import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Releases of the CLI, each with an archive for each platform. */
const RELEASES = "https://github.com/temporalio/cli/releases/download";
const PLATFORMS: Readonly<Record<string, string>> = {
  "linux-x64": "linux_amd64",
  "linux-arm64": "linux_arm64",
  "darwin-x64": "darwin_amd64",
  "darwin-arm64": "darwin_arm64",
};
const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * Downloads the release of a Temporal CLI for this platform into a folder. Nothing is unpacked unless its hash is the pinned
 * one.
 *
 * @param archives SHA-256 of the release's archives, by platform
 * @param releases address of the releases
 * @returns path of the program
 * @throws why it can't be had
 */
export async function downloadTemporal(
  version: string,
  folder: string,
  archives: Readonly<Record<string, string>>,
  releases: string = RELEASES,
): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const [sha256, name] = [archives[platform], PLATFORMS[platform]];
  if (!sha256 || !name) throw new Error(`no archive of Temporal is pinned for ${platform}`);
  const url = `${releases}/v${version}/temporal_cli_${version}_${name}.tar.gz`;
  const archive = join(folder, "archive.tar.gz");
  await writeFile(archive, await fetchPinned(url, sha256));
  await promisify(execFile)("tar", ["-xzf", archive, "-C", folder, "temporal"]);
  return join(folder, "temporal");
}

/** Downloads bytes whose hash is known. @throws it can't be downloaded, or has another hash */
async function fetchPinned(url: string, sha256: string): Promise<Buffer> {
  const { host } = new URL(url);
  let bytes: Buffer;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    bytes = Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Error(`nothing can be downloaded from ${host}: ${(error as Error).message}`);
  }
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found === sha256) return bytes;
  throw new Error(`what ${host} sent has SHA-256 ${found}, and ${sha256} is pinned`);
}
