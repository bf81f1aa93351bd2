/** Scopes of keys that reach a tool. */
export const FULL = ["full"] as const;
/** Tools that audit keys reach as well. */
export const FULL_AND_AUDIT = ["full", "audit"] as const;
