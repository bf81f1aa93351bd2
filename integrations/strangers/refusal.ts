/** A refusal to read what a stranger has sent: it would be refused again, so it must not be retried. */
export interface Refusal {
  /** `too_slow`, `too_many_parts`, … */
  readonly code: string;
  /** A sentence for people, which repeats nothing of what was sent. */
  readonly about: string;
}

/** A parser refuses its input; thrown within the pool, it becomes the refusal. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(readonly refusal: Refusal) {
    super(refusal.about);
  }
}
