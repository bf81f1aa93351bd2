/** A call that was allowed to run, and whose process ended before it reported an outcome. */
export interface LostCall {
  readonly decisionId: string;
  /** When it was allowed; it began later. */
  readonly since: Date;
  /** True where its caller receives what is found, so all of the output has to be there. */
  readonly awaited?: boolean;
  /** Public id of the caller's key, and the call's input, where they are known. */
  readonly keyId?: string;
  readonly input?: unknown;
}

/** The outcome of a lost call, as far as it can be found out. */
export type Recovery = {
  readonly state: "done";
  /** Ids of what it created, by name; public. */
  readonly ids: Readonly<Record<string, string>>;
  /** The operation's output. */
  readonly output: unknown;
} | {
  /** Its effect exists, and has failed or was lost with its process. */
  readonly state: "failed";
  readonly ids: Readonly<Record<string, string>>;
  /** `name` is a kind in `ERRORS`. */
  readonly error: { readonly name: string; readonly message: string };
} | {
  /** Proven: it had no effect. */
  readonly state: "not_done";
} | {
  readonly state: "unknown";
  /** The place for people to check, as the end of a sentence that begins with "look". */
  readonly look?: string;
};
