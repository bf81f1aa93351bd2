import { SCAN_DETECTOR } from "../../../judgement/compliance/scans/mod.ts";
import {
  DRILL_SERVICE_PATTERN,
  say,
  type Text,
  type Triage,
} from "../../../contract/domain/mod.ts";
import {
  citedPassages,
  type ClassifyResult,
  type Engine,
  EngineUnavailable,
} from "../../../judgement/engine/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { listOpenFindings } from "../../../store/incidents/mod.ts";
import { listServiceNames } from "../../../store/cmdb/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { readPromptWords } from "../mod.ts";
import { MAX_LISTED, serviceSource } from "./_sources.ts";

const DRILL_SERVICE = new RegExp(DRILL_SERVICE_PATTERN);
/** Weight of a service that is only named. */
const NAMED_WEIGHT = 0.2;

/** Services that an incident concerns. */
interface Concern {
  readonly names: readonly string[];
  /** False: something that was found on them stands open. */
  readonly isNamed: boolean;
}

/** Reports the kind and severity of an incident, and the services that it concerns. */
export async function reportTriage(
  { store, engine }: Pick<ActivityParts, "store" | "engine">,
  incident: string,
): Promise<Triage> {
  const [{ names, isNamed }, classified] = await Promise.all([
    concernOf(store.db, incident),
    classify(engine, incident, store.tenant),
  ]);
  const passages = classified ? citedPassages(classified) : [];
  return {
    agent: "triage",
    round: 1,
    services: names,
    classification: classified ? shortClassification(classified) : null,
    says: [describeClassification(classified), describeConcern(names, isNamed)],
    sources: [
      ...passages.map(({ id, kind, title, sha256 }) => ({ id, kind, title, sha256 })),
      ...names.map(serviceSource),
    ],
    suspects: names.map((service) => ({
      service,
      weight: NAMED_WEIGHT,
      why: isNamed ? say`it is named` : say`something was found on it that stands open`,
    })),
  };
}

function describeConcern(names: readonly string[], isNamed: boolean): Text {
  if (names.length === 0) return say`names no service that is known`;
  const list = names.join(", ");
  return isNamed
    ? say`concerns ${list}, by name`
    : say`names no service that is known; findings are open on ${list}`;
}

/**
 * Returns the services that are named, or else those with an open finding. The finding of a security scan is older than
 * the incident, so it only makes its service known by name.
 */
async function concernOf(db: Db, incident: string): Promise<Concern> {
  const [known, findings] = await Promise.all([listServiceNames(db), listOpenFindings(db)]);
  const scanned = findings.filter(({ detector }) => detector === SCAN_DETECTOR);
  const measured = findings.filter(({ detector }) => detector !== SCAN_DETECTOR);
  const nameable = new Set([...known, ...scanned.flatMap(({ service }) => service ?? [])]);
  const named = readPromptWords(incident, [...nameable]).services;
  if (named.length > 0) return { names: named, isNamed: true };
  const affected = measured.flatMap(({ service }) =>
    service && !DRILL_SERVICE.test(service) ? [service] : []
  );
  return {
    names: [...new Set(affected)].slice(0, MAX_LISTED),
    isNamed: false,
  };
}

/** @returns undefined while the engine is away */
async function classify(
  engine: Engine,
  description: string,
  tenant: string,
): Promise<ClassifyResult | undefined> {
  try {
    return await engine.classify({ description, source: "crew" }, tenant);
  } catch (error) {
    if (error instanceof EngineUnavailable) return undefined;
    throw error;
  }
}

function shortClassification({ classification }: ClassifyResult): Triage["classification"] {
  const { category, severity, confidence, recommended_action } = classification;
  return { category, severity, confidence, recommended_action };
}

function describeClassification(classified: ClassifyResult | undefined): Text {
  if (!classified) return say`the engine is away, so its kind is not judged`;
  const { classification: { category, severity, confidence }, provider } = classified;
  return say`by its words it is ${category}, ${severity} (confidence ${
    confidence.toFixed(2)
  }, judged by ${provider})`;
}
