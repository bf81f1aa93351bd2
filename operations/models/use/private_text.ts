/** Masks private data in prompts and answers, whole or as they come. */
import { locatePersonal, locateSecrets, type PrivateSpan } from "../../../judgement/guard/mod.ts";

/** Counts of private data by kind: `email`, `phone`, `card_number`, `iban`, `national_id`, `secret`. */
export type PrivateCounts = Readonly<Record<string, number>>;

/** Masks texts and counts what it finds. */
export interface TextMasker {
  /** Masks a whole text. */
  mask(text: string): string;
  /** Returns `text` from one position to another, masked. @param spans of the whole text, sorted, without overlaps */
  maskSpans(text: string, spans: readonly PrivateSpan[], from: number, to: number): string;
  /** Private data found so far, by kind. */
  readonly counts: PrivateCounts;
}

/** Creates the maskers of one call. @returns a function that creates one for the prompt, and one for the answer */
export function openMasker(): () => TextMasker {
  const names = new Map<string, string>();
  const seen: Record<string, number> = {};

  function nameOf(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    seen[kind] = (seen[kind] ?? 0) + 1;
    const name = `[${kind}-${seen[kind]}]`;
    names.set(key, name);
    return name;
  }

  return () => {
    const counts: Record<string, number> = {};
    const masker: TextMasker = {
      counts,
      mask: (text) => masker.maskSpans(text, locatePrivate(text), 0, text.length),
      maskSpans(text, spans, from, to) {
        let masked = "";
        let at = from;
        for (const { kind, start, end } of spans) {
          if (end <= from || start >= to) continue;
          counts[kind] = (counts[kind] ?? 0) + 1;
          masked += text.slice(at, Math.max(at, start)) + nameOf(kind, text.slice(start, end));
          at = end;
        }
        return masked + text.slice(at, Math.max(at, to));
      },
    };
    return masker;
  };
}

/** Returns where a text is private: sorted, and without overlaps. */
export function locatePrivate(text: string): PrivateSpan[] {
  const secrets = locateSecrets(text).map((span) => ({ ...span, kind: "secret" }));
  const found = [...secrets, ...locatePersonal(text)].sort((a, b) =>
    a.start - b.start || b.end - a.end
  );
  const spans: PrivateSpan[] = [];
  for (const span of found) {
    const last = spans.at(-1);
    if (!last || span.start >= last.end) spans.push(span);
    else if (span.end > last.end) spans[spans.length - 1] = { ...last, end: span.end };
  }
  return spans;
}

/** Returns a copy whose texts are masked. */
export function maskTexts<T>(value: T): T {
  const { mask } = openMasker()();
  const maskIn = (one: unknown): unknown => {
    if (typeof one === "string") return mask(one);
    if (Array.isArray(one)) return one.map(maskIn);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, maskIn(inner)]));
  };
  return maskIn(value) as T;
}
