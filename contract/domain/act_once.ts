/** An act outside, in its four parts. Each may be repeated, but for `act`. */
export interface Act<Attempt, Proof, End> {
  /** Seals the intent. @returns false: it was sealed before, so that it may be done, or it is held back */
  intend(): Promise<boolean>;
  /** Acts, with one attempt. */
  act(): Promise<Attempt>;
  /** Looks what became of it. @param attempt undefined: there was none, or what it said is lost */
  prove(attempt: Attempt | undefined): Promise<Proof>;
  /** Seals the end. */
  end(proof: Proof): Promise<End>;
}

/**
 * Acts outside, once: the intent is sealed before the one attempt, and the end after a look at what became of it. Where the
 * intent was there before, it only looks.
 *
 * ```ts
 * const result = await actOnce({ intend, act, prove, end });
 * ```
 *
 * A run that is ended in between leaves the act open, and `settleOpenActs()` ends it.
 */
export async function actOnce<Attempt, Proof, End>(
  { intend, act, prove, end }: Act<Attempt, Proof, End>,
): Promise<End> {
  const attempt = await intend() ? await act() : undefined;
  return await end(await prove(attempt));
}
