/** Judges a fault by what was measured: its code, the type of its service, and the services that fail with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import {
  CATEGORIES,
  type Category,
  fillIn,
  FINDING_CHECKS,
  type FindingCheck,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";
import {
  describeCheck,
  type HealthCheck,
  parseHostPort,
  type Service,
} from "../../integrations/host/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type FindingRecord, listFindingsOfDependencies } from "../../store/incidents/mod.ts";
import { isFailure } from "./_causes.ts";

/** A fault that was measured. */
export interface MeasuredFault {
  readonly check: FindingCheck;
  /** Code of the last look. */
  readonly code: string;
  /** Undefined: it is about none. */
  readonly service: Pick<Service, "name" | "type" | "check"> | undefined;
  /** As the detector recorded it; undefined: it recorded none. */
  readonly record: Pick<FindingRecord, "summary" | "detail"> | undefined;
  /** Services that this one needs, and that fail as well. */
  readonly failing: readonly FailingDependency[];
}

/** A service that another one needs, with the fault that was found on it. */
export interface FailingDependency {
  readonly service: string;
  readonly code: string;
}

/** A judgement of a fault. */
export interface Judgement {
  readonly category: Category;
  /** Likelihood that the category is right, 0 to 1. It is an estimate, and not measured. */
  readonly confidence: number;
  /** Description of the fault, in sentences for people. May name addresses. */
  readonly says: Text;
  /** Support for the category, in a sentence. */
  readonly because: string;
  /** Article of the knowledge base about just this fault. */
  readonly article: string | null;
  /** True: the measurement does not tell the category, so words about the fault may. */
  readonly isOpen: boolean;
}

/** The engine's judgement of words about a fault. */
export interface Reading {
  readonly category: Category;
  readonly confidence: number;
}

const Globs = z.array(z.string()).min(1);
const Judgements = z.strictObject({
  faults: z.array(z.strictObject({
    checks: z.array(z.enum(FINDING_CHECKS)).min(1),
    codes: Globs,
    says: z.string().optional(),
    category: z.enum([...CATEGORIES, "service", "lines"]),
    confidence: z.number().min(0).max(1),
    because: z.string(),
    article: z.string().optional(),
  })),
  services: z.array(z.strictObject({
    category: z.enum(CATEGORIES),
    types: Globs,
    ports: z.array(z.number().int()).default([]),
  })),
});

type Entry = z.output<typeof Judgements>["faults"][number];

/** Category of a service, and how far its source supports it against a declared type. */
interface ServiceCategory {
  readonly category: Category;
  readonly support: number;
}

/** Support by the well-known port of a check, and by the fact that a service speaks HTTP. */
const PORT_SUPPORT = 0.8;
const HTTP_SUPPORT = 0.75;
const UNKNOWN_CONFIDENCE = 0.3;
const DEPENDENCY_CONFIDENCE = 0.8;
/** Confidence from which on words may tell a category that the measurement leaves open. */
const MIN_READING_CONFIDENCE = 0.45;

const MAX_QUOTE = 200;

const { faults, services } = Judgements.parse(
  parse(readFileSync(join(ROOT, "judgement", "detection", "judgements.yaml"), "utf8")),
);

/** Judges a fault. The same fault gets the same judgement. */
export function judgeFault(fault: MeasuredFault): Judgement {
  const { check, code, service, failing } = fault;
  const entry = faults.find(({ checks, codes }) =>
    checks.includes(check) && codes.some((glob) => matchesGlob(glob, code))
  )!; // each kind of check has an entry for any code
  const says = describeFault(entry, fault);
  const { category, confidence, because, article = null } = entry;
  if (category !== "service" && category !== "lines") {
    return { category, confidence, says, because, article, isOpen: false };
  }
  const [first] = failing;
  if (first) {
    return {
      category: "dependency",
      confidence: Math.min(confidence, DEPENDENCY_CONFIDENCE),
      says: `${says} ${first.service}, which it needs, fails as well (${first.code}).`,
      because: "A service that this one needs fails at the same time.",
      article: null,
      isOpen: category === "lines",
    };
  }
  const known = service && categoryOfService(service);
  if (!known) {
    const because = "Nothing that was measured or declared tells the kind of the fault.";
    return {
      category: "other",
      confidence: UNKNOWN_CONFIDENCE,
      says,
      because,
      article,
      isOpen: true,
    };
  }
  return {
    category: known.category,
    confidence: Math.round(100 * confidence * known.support) / 100,
    says,
    because,
    article,
    isOpen: category === "lines",
  };
}

/**
 * Returns a reading of words about the fault if it decides the category: only where the measurement leaves it open. That
 * another service is to blame is not believed from words alone.
 *
 * @returns undefined: the judgement stands
 */
export function decidingReading<R extends Reading>(
  { isOpen, category }: Judgement,
  reading: R | undefined,
): R | undefined {
  if (!reading || !isOpen || reading.confidence < MIN_READING_CONFIDENCE) return undefined;
  if (reading.category === "dependency" && category !== "dependency") return undefined;
  return reading.category === "other" ? undefined : reading;
}

/** Returns the services that one needs, directly or not, and that fail, those nearest to it first. */
export async function findFailingDependencies(
  db: Db,
  service: string,
): Promise<FailingDependency[]> {
  const found = await listFindingsOfDependencies(db, service);
  return found.filter(isFailure)
    .map(({ service, code }) => ({ service: service!, code }));
}

/** Returns undefined where neither its type, nor its port, nor its check tell what a service is. */
function categoryOfService(
  { name, type, check }: Pick<Service, "name" | "type" | "check">,
): ServiceCategory | undefined {
  const kind = (type === "platform" ? name : type).toLowerCase(); // its own parts are known by name
  const byType = services.find(({ types }) => types.some((glob) => matchesGlob(glob, kind)));
  if (byType) return { category: byType.category, support: 1 };
  const port = check ? Number(placeOf(check).port) : NaN;
  const byPort = services.find(({ ports }) => ports.includes(port));
  if (byPort) return { category: byPort.category, support: PORT_SUPPORT };
  return check && "http" in check ? { category: "application", support: HTTP_SUPPORT } : undefined;
}

/** Says what is wrong: as the entry has it, or as the detector said it. */
function describeFault({ says }: Entry, { check, code, service, record }: MeasuredFault): Text {
  const { output, samples } = record?.detail ?? {};
  if (says === undefined) {
    if (!record) return say`A ${check} check fails: ${code.replaceAll("_", " ")}.`;
    const [sample] = Array.isArray(samples) ? samples : [];
    return say`${record.summary}.${
      sample === undefined ? "" : say` One of the lines: ${quote(sample)}.`
    }`;
  }
  const name = service?.name ?? say`A service`;
  const values: Readonly<Record<string, Text | undefined>> = {
    service: name,
    target: name,
    address: name,
    host: name,
    code: code.replaceAll("_", " "),
    number: /\d+/.exec(code)?.[0],
    printed: output ? say`, and prints ${quote(output)}` : "",
    ...(service?.check ? placeOf(service.check) : {}),
  };
  return fillIn(says, values);
}

/** Quotes a program's own words. */
function quote(words: unknown): string {
  const text = escapeInvisible(String(words).trim());
  return `“${text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text}”`.toWellFormed();
}

/** Returns the place that a check looks at, as it may be shown. */
function placeOf(check: HealthCheck) {
  const { target } = describeCheck(check)!;
  if ("command" in check) return { target };
  const { host, port } = "tcp" in check ? parseHostPort(check.tcp) : placeOfUrl(check.http);
  return { target, host, port: String(port), address: `${host}:${port}` };
}

function placeOfUrl(url: string): { readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}
