/** Scopes of keys that reach most tools. */
export const FULL = ["full"] as const;
/** Scopes of keys that reach the tools of an audit. */
export const FULL_AND_AUDIT = ["full", "audit"] as const;
