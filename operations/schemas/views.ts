import { z } from "zod";
import { Timestamp } from "./common.ts";

/** The state of an integration: of the platform's own form of it, or of the system of others that is configured. */
export const IntegrationView = z.object({
  integration: z.string(),
  mode: z.enum(["built_in", "remote", "not_configured"]),
  status: z.enum(["ok", "degraded", "down", "not_configured"]),
  checked_at: Timestamp,
  latency_ms: z.number().min(0),
  detail: z.string().describe("What was found, in a sentence"),
});

/** What a look at an integration finds. */
type Look = Pick<z.output<typeof IntegrationView>, "status" | "detail">;

/** Looks at the built-in form of an integration. @returns its view, with what `look` has besides */
export async function viewBuiltIn<More extends Look>(
  integration: string,
  look: () => Promise<More>,
): Promise<z.output<typeof IntegrationView> & More> {
  const started = performance.now();
  const found = await look();
  return {
    integration,
    mode: "built_in",
    checked_at: new Date().toISOString(),
    latency_ms: Math.round((performance.now() - started) * 10) / 10,
    ...found,
  };
}

/** A view, in examples. */
export const exampleView: z.output<typeof IntegrationView> = {
  integration: "rmm",
  mode: "built_in",
  status: "ok",
  checked_at: "2026-07-01T12:00:00.000Z",
  latency_ms: 1.4,
  detail: "1 device: 1 online",
};
