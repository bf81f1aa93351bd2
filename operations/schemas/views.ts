import { z } from "zod";
import {
  INTEGRATION_MODES,
  INTEGRATION_STATUSES,
  INTEGRATIONS,
} from "../../contract/domain/mod.ts";
import { Timestamp } from "../../contract/records/mod.ts";

/** The state of an integration: of the platform's own form of it, or of the system of others that is configured. */
export const IntegrationView = z.object({
  integration: z.enum(INTEGRATIONS),
  mode: z.enum(INTEGRATION_MODES),
  status: z.enum(INTEGRATION_STATUSES),
  checked_at: Timestamp.describe("When it was probed, at most 30 seconds ago"),
  latency_ms: z.number().min(0).describe("Duration of the probe"),
  detail: z.string().describe("What the probe found, a sentence"),
});

/** A view, in examples. */
export const exampleView: z.output<typeof IntegrationView> = {
  integration: "rag",
  mode: "built_in",
  status: "ok",
  checked_at: "2026-07-01T12:00:00.000Z",
  latency_ms: 1.4,
  detail: "161 articles and 12 past incidents",
};

/** Tells how an integration is. */
export function tellView(
  { integration, mode, status, detail }: z.output<typeof IntegrationView>,
): string {
  return `${integration} (${mode.replaceAll("_", " ")}) is ${
    status.replaceAll("_", " ")
  }: ${detail}.`;
}
