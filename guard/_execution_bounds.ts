/** The second rail: what the action would do, and how far it reaches. */
import { remembered } from "./_remembered.ts";
import { confidenceOf, radiusOf, secretsOf } from "./_claims.ts";
import { commandsIn } from "./_input_safety.ts";
import type { Text } from "./_texts.ts";
import { commandObjections } from "./shell/mod.ts";
import { intentsOf, visible } from "./text/mod.ts";
import type { Policy } from "./policy.ts";
import type { Finding, Objection, ProposedAction } from "./types.ts";

/** What is known of the action's surroundings. */
export interface Reach {
  /** Services that would be hit besides the target, from the graph; null where the graph doesn't know the target. */
  readonly dependents: readonly string[] | null;
  /** Repairs of the target, and of anything, within the last hour. */
  readonly repairs: { readonly target: number; readonly all: number };
}

const PROSE: Readonly<Record<string, string>> = {
  destroys: "Name the one cache, temporary folder or record that is to go.",
  defence: "Leave what protects and records on.",
  sends: "Keep data and secrets where they are.",
  access: "Have rights changed by a person.",
  traces: "Leave logs that show who did what.",
  outage: "Name one service.",
  remote_code: "Use a program that is known beforehand.",
};

/**
 * Holds an action against the policy's bounds.
 *
 * @param now when it would be done
 * @param listed whether people have put its commands on the list of those that may run
 */
export function executionBounds(
  action: ProposedAction,
  texts: readonly Text[],
  policy: Policy,
  reach: Reach,
  now: Date,
  listed = false,
): Finding {
  const claims = claimed(action, policy, reach);
  return {
    objections: distinct([
      ...claims.objections,
      ...texts.flatMap((text) => (text.at === "incident" ? [] : done(text)))
        .filter(({ code }) => !listed || code !== "unknown"),
      ...frozen(policy, now),
      ...rate(policy, reach),
    ]),
    notes: claims.notes,
  };
}

function claimed(action: ProposedAction, { bounds }: Policy, { dependents }: Reach): Finding {
  const objections: Objection[] = [];
  const notes: string[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  const least = bounds.min_confidence;
  const confidence = confidenceOf(action.confidence);
  if (confidence === "unsaid") {
    if (bounds.require_confidence) {
      ask("confidence", "No confidence is given", `Give a confidence of at least ${least}.`);
    } else notes.push("No confidence was given, so none was held against the bound");
  } else if (confidence === "unreadable") {
    ask(
      "confidence",
      "The confidence is no number from 0 to 1",
      "Give the confidence as a number from 0 to 1.",
    );
  } else if (confidence.value < least) {
    ask(
      "confidence",
      `The confidence ${confidence.value} is below ${least}`,
      `Have a person approve it, or find evidence for a confidence of at least ${least}.`,
    );
  }
  const most = bounds.max_blast_radius;
  const radius = radiusOf(action.blast_radius);
  if (radius === "unreadable") {
    ask(
      "blast_radius",
      "The blast radius is no number of services",
      "Give the blast radius as a number of services, or low, medium or high.",
    );
  } else {
    const said = radius === "unsaid" ? 0 : radius.value;
    const computed = dependents === null ? 0 : dependents.length + 1;
    if (dependents !== null) {
      notes.push(
        `By the service graph it reaches ${computed} ${computed === 1 ? "service" : "services"}`,
      );
    }
    if (Math.max(said, computed) > most) {
      ask(
        "blast_radius",
        `It reaches ${Math.max(said, computed)} services${
          computed > said ? " by the service graph" : ""
        }, and ${most} are the bound`,
        `Have a person approve it, or take a step that reaches at most ${most} services.`,
      );
    }
  }
  const secrets = secretsOf(action.touches_secrets);
  if (typeof secrets === "object" && secrets.value && !bounds.allow_secrets) {
    ask(
      "secrets",
      "It touches secrets",
      "Have a person approve it, or use a step that needs no secret.",
    );
  }
  return { objections, notes };
}

/** What a text of the action would do: its commands by what they run, its words by what they mean. */
const done = remembered(
  doneBy,
  ({ at, text, isCommand }) => `${isCommand} ${at}\n${text}`,
);

function doneBy({ at, text, isCommand }: Text): Objection[] {
  const seen = visible(text);
  const found = isCommand || looksLikeCommand(seen)
    ? commandObjections(seen).filter(({ weight, code }) =>
      at === "action.command" || weight === "deny" || !/^(unseen|unknown)$/.test(code)
    )
    : commandsIn(seen).flatMap((line) => commandObjections(line)).filter(({ weight }) =>
      weight === "deny"
    );
  if (isCommand && at === "action.command" && !/\s[a-z]{3,}\s[a-z]{3,}\s[a-z]{3,}/i.test(seen)) {
    return found;
  }
  const meant = intentsOf(seen).map(({ intent, weight, reason }): Objection => ({
    weight,
    code: intent,
    reason,
    remedy: PROSE[intent]!,
  }));
  return [
    ...found,
    ...(isCommand && found.length === 0
      ? meant.filter(() => !/[/|;&$=]|\s-{1,2}\w/.test(seen))
      : isCommand
      ? []
      : meant),
  ];
}

/** A text under any key that reads as a line of shell rather than as prose. */
function looksLikeCommand(text: string): boolean {
  return /^\s*(?:[$#>]\s+)?(?:sudo\s+|\/[\w/.-]+\/)?[a-z][\w.+-]{0,30}(?:\s+\S+){0,3}\s+(?:-{1,2}\w|\/|\||&&|>)/i
        .test(text) && !/[.!?]\s+[A-Z]/.test(text) ||
    /[|;&]\s*(?:ba|z)?sh\b|\$\(|&&|>\s*\/|\/dev\/(?:tcp|sd|nvme)/.test(text);
}

function frozen({ freezes }: Policy, now: Date): Objection[] {
  const active = freezes.find(({ from, to }) => new Date(from) <= now && now < new Date(to));
  if (!active) return [];
  return [{
    weight: "ask",
    code: "change_freeze",
    reason: `Changes are frozen until ${active.to}: ${active.reason}`,
    remedy: "Wait for the end of the freeze, or have a person approve it.",
  }];
}

function rate({ bounds }: Policy, { repairs }: Reach): Objection[] {
  const found: Objection[] = [];
  const ask = (reason: string) =>
    found.push({
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
  return found;
}

function distinct(all: readonly Objection[]): Objection[] {
  return [...new Map(all.map((one) => [`${one.weight} ${one.reason}`, one])).values()].slice(0, 16);
}
