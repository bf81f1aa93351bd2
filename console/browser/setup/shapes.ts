/** The parts of the answers that the page of the setup shows. */

/** Progress of the five steps. */
export interface Setup {
  readonly drill:
    | { readonly ticket_id: string; readonly opened_at: string; readonly resolved_at: string }
    | null;
  readonly services: number;
  readonly alert_source: boolean;
  readonly channels: readonly { readonly name: string; readonly kind: string }[];
  readonly message:
    | { readonly message_id: string; readonly channel: string; readonly at: string }
    | null;
  readonly agent: {
    readonly key_id: string;
    readonly principal: string;
    readonly tool: string;
    readonly at: string;
  } | null;
  readonly mcp_port: number;
}

/** The state of an integration. */
export interface Integration {
  readonly integration: string;
  readonly status: string;
  readonly detail: string;
}

/** A flag. */
export interface Flag {
  readonly key: string;
  readonly value: boolean;
  readonly about: string;
}

/** Tickets that were resolved, by day. */
export interface Resolutions {
  readonly resolved: number;
  readonly median_seconds: number | null;
  readonly by_day: readonly { readonly day: string; readonly resolved: number }[];
}
