import { loadConfig } from "../../../config.ts";
import {
  type MediaFiles,
  type MediaTools,
  openMediaFiles,
  openMediaTools,
} from "../../../integrations/media/mod.ts";
import { testFolder } from "../../_run.ts";

/** The media tools with files of their own. */
export interface TestMedia {
  readonly tools: MediaTools;
  readonly files: MediaFiles;
  /** Folder for files of the test. */
  readonly cwd: string;
}

let missing: Promise<string | undefined> | undefined;

/** Opens the media tools in an empty data folder. */
export async function openTestMedia(): Promise<TestMedia> {
  const config = loadConfig({ SEALOOP_DATA: await testFolder() });
  return { tools: openMediaTools(config), files: openMediaFiles(config), cwd: await testFolder() };
}

/**
 * Returns why this machine has no media tools, or undefined. The first call fetches them where the cache has none, which
 * takes some ten seconds.
 */
export function findMissingMedia(): Promise<string | undefined> {
  return missing ??= find();
}

async function find(): Promise<string | undefined> {
  const { tools, cwd } = await openTestMedia();
  try {
    await tools.describeFfmpeg();
    const request = { out: `${cwd}/probe.wav`, sentences: ["Yes."], pause_ms: 0 };
    await tools.python("speak", request, { cwd, seconds: 60 });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Skips a suite, and says why, where the machine has no media tools. */
export async function skipWithoutMedia(context: Mocha.Context): Promise<void> {
  const reason = await findMissingMedia();
  if (reason === undefined) return;
  console.log(`    skipped, as media can't be made here: ${reason}`);
  context.skip();
}

/** Returns the share of words that differ between what was said and what was heard. */
export function wordErrorRate(said: string, heard: string): number {
  const words = (text: string) =>
    text.toLowerCase().replace(/[^a-z0-9' ]+/g, " ").split(/\s+/).filter(Boolean);
  const [a, b] = [words(said), words(heard)];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (word === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)! / a.length;
}
