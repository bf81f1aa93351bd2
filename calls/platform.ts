import type { Client } from "@temporalio/client";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import {
  type CallContext,
  type Caller,
  defineOperation,
  type Operation,
  type Timing,
} from "../contract/mod.ts";
import { type IntegrationViews, PLATFORM_TENANT } from "../contract/domain/mod.ts";
import type { Engine } from "../judgement/engine/mod.ts";
import type { AlertSource } from "../integrations/alerts/mod.ts";
import type { OutsideSystems } from "../integrations/outside/mod.ts";
import type { SpanExporter } from "../integrations/observability/mod.ts";
import type { PolicyAdviser } from "../integrations/policy/mod.ts";
import type { ChainWatch, Sealer } from "../ledger/mod.ts";
import type { Db, Store } from "../store/mod.ts";
import type { UsageMeter } from "../store/calls/mod.ts";
import { clientFor } from "../runtime/temporal/mod.ts";
import type { AccessTokens } from "./access_tokens.ts";
import type { ApprovalSubject } from "./approval_subject.ts";
import type { FailureLimiter } from "./failure_limiter.ts";
import type { FeedWatch } from "./feed_watch.ts";
import type { Keyring } from "./keyring.ts";
import type { NewsWatch } from "./news_watch.ts";
import type { SpanRecorder } from "./span_recorder.ts";

/** The parts that operations and activities work with. A process's entry puts them together. */
export interface Platform {
  readonly config: Config;
  readonly log: Logger;
  /** In the name of one tenant. */
  readonly store: Store;
  readonly sealer: Sealer;
  readonly chain: ChainWatch;
  readonly usage: UsageMeter;
  readonly keyring: Keyring;
  /** Tells whom access tokens stand for; undefined: this process takes none. */
  readonly accessTokens: AccessTokens | undefined;
  /** Tells followers of the feed that there is news. */
  readonly feed: FeedWatch;
  /** Wakes heartbeats of devices that wait for commands. */
  readonly devices: NewsWatch;
  /** Limits wrong keys and tokens by address. */
  readonly failures: FailureLimiter;
  /** Judges reports and repairs, in a process of its own. */
  readonly engine: Engine;
  /** Gives a second opinion about calls; undefined: none is configured. */
  readonly adviser: PolicyAdviser | undefined;
  /** The operator's own systems, in whose remote forms integrations work. */
  readonly outside: OutsideSystems;
  /** Stores how long calls take, and what they lead to. */
  readonly spans: SpanRecorder;
  /** Sends spans to a collector; undefined: none is configured. */
  readonly exporter: SpanExporter | undefined;
  /** Reads the alerts of others; undefined: none is configured. */
  readonly alerts: AlertSource | undefined;
  /** Views of the integrations. */
  readonly views: IntegrationViews;
  /** Temporal's client, connected on first use. @throws {Problem} `Unavailable` while it is away */
  temporal(): Promise<Client>;
  readonly timing: Timing;
  /** Aborted when this process is about to end: a call that waits for a run says how that stands then. */
  readonly ending: AbortSignal;
  /** Public addresses without a slash at the end, for links in answers. */
  readonly urls: { readonly gateway: string; readonly ledger: string };
  /** Every operation by its name. `operations/` sits above, so that the process fills this in. */
  readonly operations: ReadonlyMap<string, Operation<Platform>>;
  /** Kinds of things that approvals can be about, likewise. */
  readonly subjects: readonly ApprovalSubject<Platform>[];
}

/** How operations that say so (`commits`) end their calls. */
interface Committing {
  /**
   * Makes the call's change, in one transaction with its receipt and its answer, which is what `work` gives. Once a call; where
   * it throws, nothing is changed.
   */
  commit<Output>(work: (trx: Db) => Promise<Output>): Promise<Output>;
}

/** The argument of an operation's `run` besides its input. */
export type Context = Platform & Committing & CallContext;

/** Describes an operation of this platform; see `contract/`. */
export const operation: ReturnType<typeof defineOperation<Platform & Committing>> = defineOperation<
  Platform & Committing
>();

/** Returns the parts in the name of a tenant: what they read and write is the tenant's. */
export function forTenant<Parts extends Pick<Platform, "store" | "temporal">>(
  parts: Parts,
  tenant: string,
): Parts {
  const store = parts.store.forTenant(tenant);
  return { ...parts, store, temporal: async () => clientFor(await parts.temporal(), store) };
}

/** Returns the tenant in whose name a caller acts; without a key, that is the operator's. */
export function tenantOf({ keyId, tenant }: Caller): string {
  return keyId === null ? PLATFORM_TENANT : tenant;
}

/**
 * Returns the names that an operation goes by: its own, its tools', its REST operation ids. A stop or a rule may use any.
 *
 * @param input of a call, checked: then also the names of the operation whose act it performs
 */
export function namesOf(
  operation: Pick<Operation<never>, "name" | "tool" | "rest" | "governance">,
  input?: Readonly<Record<string, unknown>>,
): string[] {
  const { name, tool = {}, rest = {} } = operation;
  const others = input ? operation.governance?.actsAs?.(input) ?? [] : [];
  return [name, ...Object.keys(tool), ...Object.keys(rest), ...others];
}
