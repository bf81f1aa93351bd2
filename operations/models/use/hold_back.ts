/** Masks a text that comes in pieces: each is held back until it is certain that nothing private begins in it. */
import { locatePrivate, type TextMasker } from "./private_text.ts";

/** Characters that are held back: more than the longest private data, but for what {@linkcode RUN} and spans hold. */
const WINDOW = 320;
/** Characters before it that decide whether something is private. */
const CONTEXT = 64;
/** New characters after which the text is looked through again. */
const STEP = 48;
/** Longest text that is held back because nobody can tell yet where it ends. */
const MAX_HELD = 16_384;
/** Characters of which keys, tokens and encoded texts are made. */
const RUN = /[A-Za-z0-9_+\/=.~%-]/;

/** More is private, or may be, than is held back. */
export class TooLongToCheck extends Error {
  override readonly name = "TooLongToCheck";
}

/** Masks a text piece by piece. */
export interface HoldBack {
  /** Adds a piece, and returns the masked text that is certain now. @throws {TooLongToCheck} */
  push(piece: string): string;
  /** Returns the masked rest. */
  end(): string;
}

/** Begins with a text. All that it returns together is the masked text, however it is cut into pieces. */
export function openHoldBack(masker: TextMasker): HoldBack {
  let text = "";
  let released = 0; // position in `text` up to which it was returned
  let scanned = 0; // length of `text` when it was last looked through

  function release(limit: number): string {
    const spans = locatePrivate(text);
    let to = limit;
    if (to < text.length) {
      while (to > released && RUN.test(text[to - 1]!) && RUN.test(text[to]!)) to--;
      for (const { start, end } of spans) if (start < to && to < end + 1) to = start;
    }
    if (to <= released) return "";
    const masked = masker.maskSpans(text, spans, released, to);
    const dropped = Math.max(0, to - CONTEXT);
    text = text.slice(dropped);
    released = to - dropped;
    return masked;
  }

  return {
    push(piece) {
      text += piece;
      if (text.length - scanned < STEP || text.length - released <= WINDOW) return "";
      const masked = release(text.length - WINDOW);
      scanned = text.length;
      if (text.length - released > MAX_HELD) throw new TooLongToCheck();
      return masked;
    },
    end: () => release(text.length),
  };
}
