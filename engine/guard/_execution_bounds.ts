import { confidenceOf, radiusOf, secretsOf } from "./_claims.ts";
import type { Finding, Objection, ValidateRequest } from "./types.ts";

/** Holds what an action claims of itself against the bounds. */
export function executionBounds({ action = {} }: ValidateRequest): Finding {
  const objections: Objection[] = [];
  const ask = (code: string, reason: string, remedy: string) =>
    objections.push({ weight: "ask", code, reason, remedy });
  const confidence = confidenceOf(action.confidence);
  if (confidence === "unreadable" || confidence !== "unsaid" && confidence.value < 0.7) {
    ask("low_confidence", "The confidence is below 0.7", "Raise the confidence to 0.7");
  }
  const radius = radiusOf(action.blast_radius);
  if (radius === "unreadable" || radius !== "unsaid" && radius.value > 3) {
    ask("blast_radius", "The blast radius is above 3 services", "Narrow it to 3 services");
  }
  const secrets = secretsOf(action.touches_secrets);
  if (secrets !== "unsaid" && secrets !== "unreadable" && secrets.value) {
    ask("touches_secrets", "The action touches secrets", "Leave the secrets out");
  }
  return { objections, notes: [] };
}
