import type { Runbook } from "./load.ts";

/** What a runbook is looked for against. */
export interface RunbookIncident {
  /** The service, or undefined where it is not known. */
  readonly service: {
    readonly name: string;
    readonly type: string;
    readonly restart: unknown;
    readonly check: unknown;
  };
  readonly finding: { readonly check: string; readonly code: string };
  /** What people and detectors say of it. */
  readonly text: string;
  /** As the engine classified it; null: it could not be asked. */
  readonly category: string | null;
  /** Names of the parameters that the service gives values for. */
  readonly gives?: readonly string[];
  /** Whether the finding is about a folder that has a bound of its own. */
  readonly boundedFolder?: boolean;
  /** Runbook that the services file names for the service. */
  readonly named?: string;
}

/**
 * Runbooks that fit, most specific first: the one that the service names, then those that name the service, the code of
 * the finding, its words, the type of the service, what it asks the service for and is given, the kind of check, the
 * category; among equals by their own `order`.
 *
 * What a runbook asks for must all be there. One that asks for a category alone is for reports of people: a category is
 * judgement, and a probe has said more than that.
 */
export function matchRunbooks(runbooks: readonly Runbook[], incident: RunbookIncident): Runbook[] {
  return runbooks
    .map((runbook) => ({ runbook, weight: weightOf(runbook, incident) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) =>
      b.weight - a.weight || a.runbook.order - b.runbook.order ||
      (a.runbook.runbook < b.runbook.runbook ? -1 : 1)
    )
    .map(({ runbook }) => runbook);
}

/** How specifically a runbook fits; 0: it does not. */
function weightOf(runbook: Runbook, incident: RunbookIncident): number {
  const { service, finding, text, category, named } = incident;
  const { match, needs } = runbook;
  if (needs.some((need) => !service[need])) return 0;
  if (runbook.runbook === named) return 1_000;
  let weight = 0;
  if (match.services) {
    if (!match.services.some((glob) => globFits(glob, service.name))) return 0;
    weight += 100;
  }
  if (match.findings) {
    const codes = match.findings.filter(({ check }) => check === finding.check)
      .flatMap((one) => one.codes).filter((glob) => globFits(glob, finding.code));
    if (codes.length === 0) return 0;
    weight += codes.some((code) => code !== "*") ? 50 : 10;
  }
  if (match.types) {
    if (!match.types.some((glob) => globFits(glob, service.type))) return 0;
    weight += 20;
  }
  if (match.categories) {
    // A detector's code says more than a judgement does, so a category that differs only weighs nothing there.
    if (category !== null && match.categories.includes(category as never)) weight += 5;
    else if (finding.check === "report" || !match.findings && !match.services) return 0;
  }
  if (match.words) {
    const said = text.toLowerCase();
    if (!match.words.some((word) => said.includes(word.toLowerCase()))) return 0;
    weight += 30;
  }
  if (weight > 0 && isMeantFor(runbook, incident)) weight += 15;
  const byCategoryAlone = !match.findings && !match.services && !match.types && !match.words;
  return byCategoryAlone && finding.check !== "report" ? 0 : weight;
}

/**
 * Whether a service or the finding gives something that the runbook can't do without: then it was set up for what this
 * service keeps on the host, where one whose parameters all have defaults is for any host.
 */
function isMeantFor(
  { parameters }: Runbook,
  { finding, gives = [], boundedFolder }: RunbookIncident,
): boolean {
  return finding.check === "host" &&
    Object.entries(parameters).some(([name, { default: usual, from }]) =>
      name !== "disk" && usual === undefined &&
      (gives.includes(name) || boundedFolder === true && from === "bounded_folder")
    );
}

/** Whether a text fits a pattern in which `*` stands for any characters and `?` for one. */
export function globFits(glob: string, text: string): boolean {
  const pattern = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll(
    "?",
    ".",
  );
  return new RegExp(`^${pattern}$`, "s").test(text);
}
