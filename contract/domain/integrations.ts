/** Outside systems that the platform works with, each with a form of its own besides. */
export const INTEGRATIONS = [
  "observability",
  "policy",
  "grc",
  "rmm",
  "mesh",
  "soar",
  "rag",
  "audit",
] as const;

/** Name of an integration. */
export type IntegrationName = typeof INTEGRATIONS[number];

/** Form in which an integration works: the platform's own, a system of others, or none. */
export const INTEGRATION_MODES = ["built_in", "remote", "not_configured"] as const;

/** Form in which an integration works. */
export type IntegrationMode = typeof INTEGRATION_MODES[number];

/** State of an integration. `degraded`: it works, and something needs attention. */
export const INTEGRATION_STATUSES = ["ok", "degraded", "down", "not_configured"] as const;

/** State of an integration. */
export type IntegrationStatus = typeof INTEGRATION_STATUSES[number];

/** Result of a probe of an integration. Everybody may read it: no names, hosts or texts of people. */
export interface IntegrationView {
  readonly integration: IntegrationName;
  readonly mode: IntegrationMode;
  readonly status: IntegrationStatus;
  /** When it was probed, ISO 8601. */
  readonly checked_at: string;
  readonly latency_ms: number;
  /** A sentence without a full stop. */
  readonly detail: string;
}

/** Somebody who reads views of integrations. */
export interface IntegrationViewer {
  /** `keyId`: null without a key. */
  readonly caller: { readonly keyId: string | null };
  readonly store: { readonly tenant: string };
}

/** Views of all integrations. All but the operator's own keys see the forms that are built in. */
export interface IntegrationViews {
  /** Returns the view of an integration, at most 30 seconds old. */
  view(name: IntegrationName, viewer: IntegrationViewer): Promise<IntegrationView>;
  /** Returns the views of all integrations. One that fails or hangs changes nothing in the others. */
  all(viewer: IntegrationViewer): Promise<IntegrationView[]>;
}
