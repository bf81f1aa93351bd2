import { constants } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Config } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { realPathBelow } from "../files/mod.ts";
import { openHttpClient, OutboundFailed, OutboundRefused } from "../http/mod.ts";
import { AUDIO_LIMITS } from "./audio.ts";

const FETCH_TIMEOUT_MS = 60_000;

/** Returns whether a source is a URL. All others are paths below the inbox folder. */
export function isUrl(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(source);
}

/** Returns the folder whose files calls may name. */
function inboxFolder({ settings, dataDir }: Pick<Config, "settings" | "dataDir">): string {
  return settings.SEALOOP_INBOX ?? join(dataDir, "inbox");
}

/**
 * Copies a file that a call names into a folder: from a URL by the guarded client, or from the inbox folder, which no path
 * and no link leads out of.
 *
 * @returns its path
 * @throws {Problem} `NotFound`, `TooLarge`, `Forbidden`, `Unavailable`
 */
export async function takeSource(
  config: Pick<Config, "settings" | "dataDir">,
  source: string,
  { cwd, signal }: { readonly cwd: string; readonly signal?: AbortSignal },
): Promise<string> {
  const path = join(cwd, "source");
  await writeFile(
    path,
    isUrl(source) ? await download(config, source, signal) : await readInbox(config, source),
  );
  return path;
}

async function download(
  { settings }: Pick<Config, "settings">,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const http = openHttpClient({ allow: settings.SEALOOP_OUTBOUND_ALLOW });
  try {
    const { status, body } = await http.request(url, {
      method: "GET",
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: AUDIO_LIMITS.bytes,
      ...(signal ? { signal } : {}),
    });
    if (status === 200) return body;
    throw new Problem("NotFound", `The server has answered with the status ${status}`);
  } catch (error) {
    if (error instanceof OutboundRefused) {
      throw new Problem("Forbidden", error.message, { cause: error });
    }
    if (!(error instanceof OutboundFailed)) throw error;
    if (error.code === "too_large") {
      throw new Problem("TooLarge", "The file is too large: it may have 25 MiB", { cause: error });
    }
    throw new Problem("Conflict", `Cannot fetch the file: ${error.message}`, { cause: error });
  }
}

async function readInbox(
  config: Pick<Config, "settings" | "dataDir">,
  source: string,
): Promise<Buffer> {
  const missing = new Problem("NotFound", "There is no such file below the inbox folder");
  const path = await realPathBelow(inboxFolder(config), source).catch(() => undefined);
  if (path === undefined) throw missing;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    .catch(() => {
      throw missing;
    });
  try {
    if (!(await file.stat()).isFile()) throw missing;
    const limited = file.createReadStream({ end: AUDIO_LIMITS.bytes, autoClose: false }); // it may grow meanwhile
    const bytes = await buffer(limited);
    if (bytes.length <= AUDIO_LIMITS.bytes) return bytes;
    throw new Problem("TooLarge", "The file is too large: it may have 25 MiB");
  } finally {
    await file.close();
  }
}
