import type { Category } from "../../contract/domain/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";
import type { Runbook } from "./load.ts";

/** The facts about an incident by which a runbook is chosen. */
export interface RunbookIncident {
  readonly service: {
    readonly name: string;
    readonly type: string;
    readonly restart: unknown;
    readonly check: unknown;
  };
  readonly finding: { readonly check: string; readonly code: string };
  /** Words of people and detectors about it. */
  readonly text: string;
  /** Category by the engine; null: it could not be asked. */
  readonly category: string | null;
  /** Cause that was observed; null: none is known. */
  readonly cause?: string | null;
  /** Names of the parameters for which the service gives values. */
  readonly gives?: readonly string[];
  /** True: the finding is about a folder that has a bound of its own. */
  readonly boundedFolder?: boolean;
  /** Runbook that the services file names for the service. */
  readonly named?: string;
}

/** Weight of each condition that is met. */
const WEIGHT = {
  named: 1_000,
  service: 100,
  causes: 60,
  code: 50,
  words: 30,
  type: 20,
  meant: 15,
  check: 10,
  category: 5,
} as const;

/**
 * Returns the runbooks that match, most specific first: the one that the service names, then those that name the service,
 * the cause that was observed, the code of the finding, its words, the type of the service, parameters that the service gives, the kind of check, the
 * category. Among equals the lower `order` is first.
 *
 * All conditions of a runbook must be met. Where one is unfit for the cause or the code, see {@linkcode isUnfit}. A runbook with no condition but a category is for reports of people: for a
 * finding, the category is a weaker sign than the code.
 */
export function matchRunbooks(runbooks: readonly Runbook[], incident: RunbookIncident): Runbook[] {
  return runbooks
    .map((runbook) => ({ runbook, weight: weigh(runbook, incident) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) =>
      b.weight - a.weight || a.runbook.order - b.runbook.order ||
      (a.runbook.runbook < b.runbook.runbook ? -1 : 1)
    )
    .map(({ runbook }) => runbook);
}

/** Returns whether a runbook says that it does not help against the cause or the code of an incident. */
export function isUnfit(
  { unfit }: Pick<Runbook, "unfit">,
  { finding, cause }: Pick<RunbookIncident, "finding" | "cause">,
): boolean {
  const has = (globs: readonly string[], name: string) =>
    globs.some((glob) => matchesGlob(glob, name));
  return has(unfit.codes, finding.code) || has(unfit.causes, cause ?? "");
}

/** Returns how specifically a runbook matches; 0: it does not. */
function weigh(runbook: Runbook, incident: RunbookIncident): number {
  const { service, finding, text, category, named } = incident;
  const { match, needs } = runbook;
  if (needs.some((need) => !service[need])) return 0;
  if (runbook.runbook === named) return WEIGHT.named;
  let weight = 0;
  if (match.services) {
    if (!match.services.some((glob) => matchesGlob(glob, service.name))) return 0;
    weight += WEIGHT.service;
  }
  if (match.findings) {
    const codes = match.findings.filter(({ check }) => check === finding.check)
      .flatMap((one) => one.codes).filter((glob) => matchesGlob(glob, finding.code));
    if (codes.length === 0) return 0;
    weight += codes.some((code) => code !== "*") ? WEIGHT.code : WEIGHT.check;
  }
  if (match.types) {
    if (!match.types.some((glob) => matchesGlob(glob, service.type))) return 0;
    weight += WEIGHT.type;
  }
  if (match.categories) {
    // Where a detector found it, another category does not exclude a runbook.
    if (category !== null && match.categories.includes(category as Category)) {
      weight += WEIGHT.category;
    } else if (finding.check === "report" || !match.findings && !match.services) return 0;
  }
  if (match.causes) {
    if (!match.causes.some((glob) => matchesGlob(glob, incident.cause ?? ""))) return 0;
    weight += WEIGHT.causes;
  }
  if (match.words) {
    const lower = text.toLowerCase();
    if (!match.words.some((word) => lower.includes(word.toLowerCase()))) return 0;
    weight += WEIGHT.words;
  }
  if (weight > 0 && isMeantFor(runbook, incident)) weight += WEIGHT.meant;
  const categoryOnly = !match.findings && !match.services && !match.types && !match.words &&
    !match.causes;
  return categoryOnly && finding.check !== "report" ? 0 : weight;
}

/**
 * Returns whether the service or the finding gives a parameter that has no default. Then the runbook was set up for this
 * service; a runbook whose parameters all have defaults is for any host.
 */
function isMeantFor(
  { parameters }: Runbook,
  { finding, gives = [], boundedFolder }: RunbookIncident,
): boolean {
  return finding.check === "host" &&
    Object.entries(parameters).some(([name, { default: fallback, from }]) =>
      name !== "disk" && fallback === undefined &&
      (gives.includes(name) || boundedFolder === true && from === "bounded_folder")
    );
}
