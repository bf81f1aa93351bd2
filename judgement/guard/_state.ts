/** The platform's state around a proposed action, against which the rails hold it. */
import type { Freeze } from "../../store/calendar/mod.ts";
import { DEFAULT_POLICY, type Policy, policyVersionName } from "./policy.ts";

/** A service of the service graph. */
export interface KnownService {
  readonly name: string;
  readonly host: string;
  readonly status: "up" | "down" | "unknown";
  /** Seconds since the last probe; null: it was never probed. */
  readonly checkedAgo: number | null;
  /** Words of the command that restarts it: they name its unit or container. */
  readonly restart: readonly string[] | null;
}

/** A ticket as it is stored. */
export interface KnownTicket {
  readonly id: string;
  readonly service: string | null;
  readonly status: string;
}

/** A cited article as it is stored. */
export interface StoredArticle {
  readonly id: string;
  readonly sha256: string;
  readonly kind: "article" | "incident";
  readonly title: string;
  readonly content: string;
  /** An incident's ticket exists, and is resolved. */
  readonly resolved: boolean;
}

/** The platform's state around a proposed action. */
export interface PlatformState {
  readonly policy: Policy;
  readonly policyVersion: string;
  /** Change freezes that hold now. */
  readonly freezes: readonly Freeze[];
  /** The service that the action's target names; undefined: the service graph has none of that name. */
  readonly target: KnownService | undefined;
  /** Services of the service graph that the action is on: the target, and what the command acts on. */
  readonly reached: readonly KnownService[];
  /** Names of what the action is on that the service graph does not know. */
  readonly strangers: readonly string[];
  /** Services that need those reached, directly or not; null where none is reached. */
  readonly dependents: readonly string[] | null;
  /** Services that the target needs. */
  readonly needs: readonly string[];
  /** Services of the service graph that the incident or the command names. */
  readonly named: readonly KnownService[];
  readonly ticket: KnownTicket | undefined;
  /** Repairs within the last hour, of the target and of all services. */
  readonly repairs: { readonly target: number; readonly all: number };
  /** Cited articles, in all stored versions; null: there is no knowledge base. */
  readonly articles: readonly StoredArticle[] | null;
}

/** A state in which nothing is known: no services, no ticket, no articles, and the default policy. */
export const EMPTY_STATE: PlatformState = {
  policy: DEFAULT_POLICY,
  policyVersion: policyVersionName(null),
  freezes: [],
  target: undefined,
  reached: [],
  strangers: [],
  dependents: null,
  needs: [],
  named: [],
  ticket: undefined,
  repairs: { target: 0, all: 0 },
  articles: [],
};
