import { readFile } from "node:fs/promises";
import { join } from "node:path";
import semver from "semver";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { Severity } from "../../../contract/domain/mod.ts";
import type { Scanner, Weakness } from "./_scanner.ts";

/** The fields of an advisory that are needed. @see https://ossf.github.io/osv-schema/ */
const Advisory = z.object({
  id: z.string().min(1),
  summary: z.string().default(""),
  withdrawn: z.string().optional(),
  database_specific: z.object({ severity: z.string().optional() }).optional(),
  affected: z.array(z.object({
    package: z.object({ ecosystem: z.string(), name: z.string() }),
    versions: z.array(z.string()).default([]),
    ranges: z.array(z.object({
      type: z.string(),
      events: z.array(z.object({
        introduced: z.string().optional(),
        fixed: z.string().optional(),
        last_affected: z.string().optional(),
      })),
    })).default([]),
  })).default([]),
});
type Advisory = z.output<typeof Advisory>;

/** Severities by GitHub's names. */
const SEVERITY_OF: Readonly<Record<string, Severity>> = {
  CRITICAL: "critical",
  HIGH: "high",
  MODERATE: "medium",
  MEDIUM: "medium",
  LOW: "low",
};

/** Finds installed packages that an advisory of the configured file names. */
export const dependencies: Scanner = async ({ config: { settings } }) => {
  const path = settings.SEALOOP_ADVISORIES;
  if (path === undefined) return "not_configured";
  const advisories = parseAdvisories(await readFile(path, "utf8"));
  const installed = listPackages(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const known = new Map(advisories.map((one) => [one.id, one]));
  return [...known.values()].filter(({ withdrawn }) => withdrawn === undefined)
    .flatMap((advisory) => installed.flatMap((one) => findWeakness(advisory, one)));
};

/** Parses one advisory, a list of them, or one a line. @throws {Error} names the line */
function parseAdvisories(text: string): Advisory[] {
  const whole = parseJson(text);
  const values = whole === undefined
    ? text.split("\n").flatMap((line, i) => {
      if (line.trim() === "") return [];
      const value = parseJson(line);
      if (value === undefined) {
        throw new Error(`Cannot read the advisories: line ${i + 1} is not JSON`);
      }
      return [value];
    })
    : [whole].flat();
  return values.map((value) => Advisory.parse(value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An installed package. */
interface Package {
  readonly name: string;
  readonly version: string;
}

function listPackages(lock: string): Package[] {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version?: string }> };
  const all = Object.entries(packages).flatMap(([path, { version }]) => {
    const name = path.split("node_modules/").at(-1);
    return path !== "" && name && version ? [{ name, version }] : [];
  });
  return [...new Map(all.map((one) => [`${one.name} ${one.version}`, one])).values()];
}

function findWeakness(advisory: Advisory, { name, version }: Package): Weakness[] {
  const hit = advisory.affected.find((affected) =>
    affected.package.ecosystem === "npm" && affected.package.name === name &&
    (affected.versions.includes(version) ||
      affected.ranges.some(({ type, events }) => type === "SEMVER" && isAffected(version, events)))
  );
  if (!hit) return [];
  const rating = advisory.database_specific?.severity?.toUpperCase() ?? "";
  const fixed = findFix(version, hit);
  return [{
    code: "known_vulnerability",
    severity: SEVERITY_OF[rating] ?? "medium",
    summary: `${name} ${version} is named by the advisory ${advisory.id}`,
    detail: {
      package: name,
      version,
      advisory: advisory.id,
      about: advisory.summary.slice(0, 300),
      fixed_in: fixed ?? null,
    },
    remedy: fixed === undefined
      ? `Read ${advisory.id} for a workaround: it names no version of ${name} that fixes it`
      : `Install a release of the platform that has ${name} ${fixed} or later`,
    which: `${advisory.id} ${name} ${version}`,
  }];
}

type Events = Advisory["affected"][number]["ranges"][number]["events"];

/** Returns whether a version is affected: the last event at or before it decides, in whatever order they are listed. */
function isAffected(version: string, events: Events): boolean {
  if (!semver.valid(version)) return false;
  let affected = false;
  for (const { introduced, fixed, last_affected } of sortEvents(events)) {
    if (introduced !== undefined && (introduced === "0" || semver.gte(version, introduced))) {
      affected = true;
    }
    if (fixed !== undefined && semver.gte(version, fixed)) affected = false;
    if (last_affected !== undefined && semver.gt(version, last_affected)) affected = false;
  }
  return affected;
}

function sortEvents(events: Events): Events {
  const at = ({ introduced, fixed, last_affected }: Events[number]) =>
    semver.valid(introduced ?? fixed ?? last_affected ?? "") ?? "0.0.0-0";
  return events.toSorted((a, b) => semver.compare(at(a), at(b)));
}

/** Returns the first fixed version after this one. */
function findFix(version: string, affected: Advisory["affected"][number]): string | undefined {
  return affected.ranges.flatMap(({ type, events }) => type === "SEMVER" ? events : [])
    .flatMap(({ fixed }) =>
      fixed && semver.valid(fixed) && semver.gt(fixed, version) ? [fixed] : []
    )
    .sort(semver.compare)[0];
}
