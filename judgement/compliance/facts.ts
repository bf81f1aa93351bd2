import type { Config } from "../../config.ts";
import type { StoredFacts } from "../../store/platform/mod.ts";

/** Transport between clients and servers. `plain`: unencrypted, over a network. */
export type Transport = "loopback" | "tls" | "proxy" | "plain";

const LOOPBACK = /^(127\.|::1$|localhost$|\[::1\]$)/;

/** Returns the transport by the settings. */
export function transportOf({ settings }: Pick<Config, "settings">): Transport {
  if (settings.SEALOOP_TLS_CERT !== undefined) return "tls";
  if (settings.SEALOOP_TLS_PROXY) return "proxy";
  return LOOPBACK.test(settings.SEALOOP_BIND) ? "loopback" : "plain";
}

/** Facts about the platform at a moment, by which controls are assessed. */
export interface Facts extends StoredFacts {
  /** ISO 8601. */
  readonly at: string;
  readonly transport: Transport;
  readonly chain: {
    /** Null: not known yet. */
    readonly intact: boolean | null;
    readonly breaks: number;
    readonly total: number;
    /** When the last complete pass of the scrub ended, ISO 8601; null: none did. */
    readonly scrubbed_at: string | null;
  };
  readonly anchors: { readonly confirmed_batches: number; readonly receipts: number };
  /** True: the guardrails and the classifier answer. */
  readonly engine: boolean;
  /** Receipts by category: how many, and the newest. */
  readonly receipts: Readonly<Record<string, KnownReceipts>>;
}

/** Known receipts of a category. */
export interface KnownReceipts {
  readonly count: number;
  /** Newest first, a few. */
  readonly newest: readonly { readonly id: string; readonly timestamp: string }[];
}

/** Returns the receipts of a category. */
export function receiptsOf({ receipts }: Facts, category: string): KnownReceipts {
  return receipts[category] ?? { count: 0, newest: [] };
}

/** Returns the days since a moment; Infinity: it never was. */
export function daysSince({ at }: Facts, moment: string | null | undefined): number {
  return moment ? (Date.parse(at) - Date.parse(moment)) / 86_400_000 : Infinity;
}
