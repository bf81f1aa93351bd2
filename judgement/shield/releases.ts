import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import { BadFile, readYamlFile } from "../../integrations/files/mod.ts";

const Day = z.union([z.date(), z.iso.date()]).transform((day) => new Date(day));
const ReleasesFile = z.strictObject({
  releases: z.record(z.string(), z.record(z.string(), Day)),
  rolling: z.array(z.string()),
});

/** An operating system as a device names it, by the fields of its os-release. */
export interface OsRelease {
  readonly id: string;
  readonly version: string;
  /** Day on which its maker says that support ends, where the release itself says so. */
  readonly support_end?: string | null | undefined;
}

const RELEASES_FILE = join(ROOT, "judgement", "shield", "releases.yaml");

let cached: z.output<typeof ReleasesFile> | undefined;

/**
 * Returns the last day with security updates of a release. The platform's own list comes before what the device says.
 *
 * @returns `rolling`: it has no releases that could end; undefined: it is not known
 */
export function supportEnd(
  { id, version, support_end }: OsRelease,
): Date | "rolling" | undefined {
  const { releases, rolling } = cached ??= readReleases();
  if (rolling.includes(id)) return "rolling";
  const parts = version.split(".");
  for (let length = parts.length; length > 0; length--) {
    const day = releases[id]?.[parts.slice(0, length).join(".")];
    if (day) return day;
  }
  const day = /^\d{4}-\d\d-\d\d$/.test(support_end ?? "") ? new Date(support_end!) : undefined;
  return day && Number.isFinite(day.getTime()) ? day : undefined;
}

function readReleases(): z.output<typeof ReleasesFile> {
  const read = readYamlFile(RELEASES_FILE, ReleasesFile);
  if ("value" in read) return read.value;
  throw new BadFile(read.mistakes, RELEASES_FILE);
}
