/** The second rail: what the action would do, and how far it reaches. */
import { type Claim, parseConfidence, parseRadius, parseTouchesSecrets } from "./_claims.ts";
import { findCommands } from "./_embedded_commands.ts";
import { memoize } from "./_memoize.ts";
import type { Text } from "./_texts.ts";
import type { Policy } from "./policy.ts";
import type { Freeze } from "../../store/calendar/mod.ts";
import { judgeText } from "./_command.ts";
import { findIntents, type Intent, removeHidden } from "./text/mod.ts";
import type { Objection, ProposedAction, RailResult } from "./types.ts";

/** Services that an action reaches, recent repairs, and change freezes. */
export interface Reach {
  /** Number of services that the action is on. */
  readonly reached: number;
  /** Services that need these, from the service graph; null where it knows none of them. */
  readonly dependents: readonly string[] | null;
  /** Repairs within the last hour, of the target and of all services. */
  readonly repairs: { readonly target: number; readonly all: number };
  /** Change freezes that hold now. */
  readonly freezes: readonly Freeze[];
}

const MAX_OBJECTIONS = 16;

const INTENT_REMEDIES: Readonly<Record<Intent, string>> = {
  destroys: "Name the one cache, temporary folder or record that is to go.",
  defence: "Leave what protects and records on.",
  sends: "Keep data and secrets where they are.",
  access: "Have rights changed by a person.",
  traces: "Leave logs that show who did what.",
  outage: "Name one service.",
  remote_code: "Use a program that is known beforehand.",
};

/**
 * Checks an action against the policy's bounds.
 *
 * @param listed whether its commands are on the list of those that runbooks may run
 */
export function executionBounds(
  action: ProposedAction,
  texts: readonly Text[],
  policy: Policy,
  reach: Reach,
  listed = false,
): RailResult {
  const results = [
    checkConfidence(parseConfidence(action.confidence), policy),
    checkRadius(parseRadius(action.blast_radius), policy, reach),
    checkSecrets(parseTouchesSecrets(action.touches_secrets), policy),
  ];
  const objections = [
    ...results.flatMap((result) => result.objections),
    ...texts.flatMap((text) => text.at === "incident" ? [] : checkText(text))
      .filter(({ code }) => !listed || code !== "unknown"),
    ...checkFreezes(reach),
    ...checkRepairRate(policy, reach),
  ];
  return {
    objections: distinct(objections).slice(0, MAX_OBJECTIONS),
    notes: results.flatMap((result) => result.notes),
  };
}

const ask = (code: string, reason: string, remedy: string): RailResult => ({
  objections: [{ weight: "ask", code, reason, remedy }],
  notes: [],
});
const PASSED: RailResult = { objections: [], notes: [] };

function checkConfidence(confidence: Claim<number>, { bounds }: Policy): RailResult {
  const min = bounds.min_confidence;
  if (confidence === "missing") {
    return bounds.require_confidence
      ? ask("confidence", "No confidence is given", `Give a confidence of at least ${min}.`)
      : { ...PASSED, notes: ["No confidence was given, so none was held against the bound"] };
  }
  if (confidence === "unreadable") {
    return ask(
      "confidence",
      "The confidence is no number from 0 to 1",
      "Give the confidence as a number from 0 to 1.",
    );
  }
  if (confidence.value >= min) return PASSED;
  return ask(
    "confidence",
    `The confidence ${confidence.value} is below ${min}`,
    `Ask a person, or find evidence for a confidence of at least ${min}.`,
  );
}

/** Compares the larger of the claimed and the computed blast radius with the bound. */
function checkRadius(
  claim: Claim<number>,
  { bounds }: Policy,
  { dependents, reached }: Reach,
): RailResult {
  if (claim === "unreadable") {
    return ask(
      "blast_radius",
      "The blast radius is no number of services",
      "Give the blast radius as a number of services, or low, medium or high.",
    );
  }
  const max = bounds.max_blast_radius;
  const claimed = claim === "missing" ? 0 : claim.value;
  const computed = dependents === null ? 0 : dependents.length + reached;
  const radius = Math.max(claimed, computed);
  const services = computed === 1 ? "service" : "services";
  const notes = dependents === null
    ? []
    : [`By the service graph it reaches ${computed} ${services}`];
  if (radius <= max) return { objections: [], notes };
  const source = computed > claimed ? " by the service graph" : "";
  const { objections } = ask(
    "blast_radius",
    `It reaches ${radius} services${source}, and ${max} are the bound`,
    `Ask a person, or take a step that reaches at most ${max} services.`,
  );
  return { objections, notes };
}

function checkSecrets(claim: Claim<boolean>, { bounds }: Policy): RailResult {
  if (typeof claim !== "object" || !claim.value || bounds.allow_secrets) return PASSED;
  return ask(
    "secrets",
    "It touches secrets",
    "Ask a person, or use a step that needs no secret.",
  );
}

/** Checks a text of the action: its commands by what they run, its words by what they mean. */
const checkText = memoize(
  checkTextAnew,
  ({ at, text, isCommand }) => `${isCommand} ${at}\n${text}`,
);

function checkTextAnew({ at, text, isCommand }: Text): Objection[] {
  const visible = removeHidden(text);
  const isWhole = at === "action.command" || isCommand && looksLikeCommand(visible);
  const objections = isCommand || looksLikeCommand(visible)
    ? judgeText(visible).objections.filter(({ weight, code }) =>
      isWhole || weight === "deny" || !/^(unseen|unknown)$/.test(code)
    )
    : findCommands(visible).flatMap((line) => judgeText(line).objections)
      .filter(({ weight }) => weight === "deny");
  const hasProse = /\s[a-z]{3,}\s[a-z]{3,}\s[a-z]{3,}/i.test(visible);
  if (isCommand && at === "action.command" && !hasProse) return objections;
  if (!isCommand) return [...objections, ...intentObjections(visible)];
  const isProse = objections.length === 0 && !/[/|;&$=]|\s-{1,2}\w/.test(visible);
  return isProse ? intentObjections(visible) : objections;
}

function intentObjections(text: string): Objection[] {
  return findIntents(text).map(({ intent, weight, reason }) => ({
    weight,
    code: intent,
    reason,
    remedy: INTENT_REMEDIES[intent],
  }));
}

/** Tells whether a text under any key reads as a shell line rather than as prose. */
function looksLikeCommand(text: string): boolean {
  return /^\s*(?:[$#>]\s+)?(?:sudo\s+|\/[\w/.-]+\/)?[a-z][\w.+-]{0,30}(?:\s+\S+){0,3}\s+(?:-{1,2}\w|\/|\||&&|>)/i
        .test(text) && !/[.!?]\s+[A-Z]/.test(text) ||
    /[|;&]\s*(?:ba|z)?sh\b|\$\(|&&|>\s*\/|\/dev\/(?:tcp|sd|nvme)/.test(text);
}

function checkFreezes({ freezes }: Reach): Objection[] {
  const [last] = freezes;
  if (!last) return [];
  const event = last.eventId ? ` by ${last.eventId}` : "";
  return [{
    weight: "ask",
    code: "change_freeze",
    reason: `Changes are frozen until ${last.end.toISOString()}${event}: ${last.reason}`,
    remedy: "Wait for the end of the freeze, or ask a person.",
  }];
}

function checkRepairRate({ bounds }: Policy, { repairs }: Reach): Objection[] {
  const objections: Objection[] = [];
  const ask = (reason: string) =>
    objections.push({
      weight: "ask",
      code: "repair_rate",
      reason,
      remedy: "Find out why earlier repairs did not last, or have a person approve one more.",
    });
  if (repairs.target >= bounds.max_repairs_per_target_hour) {
    ask(
      `The target was repaired ${repairs.target} times within the last hour, and ${bounds.max_repairs_per_target_hour} are the bound`,
    );
  }
  if (repairs.all >= bounds.max_repairs_hour) {
    ask(
      `${repairs.all} repairs were made within the last hour, and ${bounds.max_repairs_hour} are the bound`,
    );
  }
  return objections;
}

function distinct(all: readonly Objection[]): Objection[] {
  return [...new Map(all.map((one) => [`${one.weight} ${one.reason}`, one])).values()];
}
