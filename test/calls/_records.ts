/** Records that operations of these tests act on. */
import type { recordFindings } from "../../store/incidents/mod.ts";
import type { addLearningItems } from "../../store/learning/mod.ts";

/** Returns the finding of a security scan. */
export function anyFinding(fingerprint: string): Parameters<typeof recordFindings>[1][number] {
  return {
    fingerprint,
    root: fingerprint,
    detector: "security_scan",
    service: null,
    host: null,
    kind: "platform",
    code: "file_permissions",
    severity: "high",
    summary: "Others may read ledger.key",
    detail: {},
    target: {},
  };
}

/** Returns a solved incident that waits to be learnt from. */
export function anyLesson(
  id: string,
  ticketId: string,
): Parameters<typeof addLearningItems>[1][number] {
  return {
    id,
    ticket_id: ticketId,
    title: "It jams",
    category: "hardware",
    score: 60,
    factors: [],
    passage: {
      id: ticketId,
      kind: "incident",
      category: "hardware",
      title: "It jams",
      content: "It jams",
      sha256: "0".repeat(64),
      fault: null,
      terms: { jams: 1 },
      indexed: "x",
    },
    state: "queued",
    receipt_id: null,
  };
}
