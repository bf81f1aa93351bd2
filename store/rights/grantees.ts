import type { FunctionOwner, Role } from "../roles.ts";

/** A role that rights are granted to. The owner has all rights on its tables by itself. */
export type Grantee = Exclude<Role, "owner"> | FunctionOwner;

/** Privileges as SQL writes them, and the roles that have them. */
export type Grant = readonly [privileges: string, ...grantees: readonly Grantee[]];

/** Rights on tables by their names. What is not listed is not granted. */
export type TableRights = Readonly<Record<string, readonly Grant[]>>;

/** Roles of the processes that serve callers. */
export const SERVERS = ["gateway", "tools"] as const;
/** Roles of the processes that serve callers or work for them. */
export const WORKING = [...SERVERS, "worker"] as const;
/** Roles of the processes that read what is private. */
export const READING = [...WORKING, "engine", "operator"] as const;
/** Roles of all processes. */
export const EVERYONE = [...READING, "sequencer", "ledger"] as const;
