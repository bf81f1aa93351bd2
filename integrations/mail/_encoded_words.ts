import { decodeText } from "./_charset.ts";

/** @see RFC 2047, section 2 */
const WORD = /=\?([^?\s]{1,80})\?([bq])\?([^?]*)\?=/gi;

/** A run of encoded words that are decoded as one, as a character may be split between two. */
interface Run {
  readonly charset: string;
  readonly encoding: string;
  readonly pieces: Buffer[];
}

/** Decodes the encoded words of a header field. Blanks between two of them are dropped. */
export function decodeWords(text: string): string {
  let decoded = "";
  let run: Run | undefined;
  let end = 0;
  const flush = () => {
    if (run) decoded += decodeText(Buffer.concat(run.pieces), run.charset);
    run = undefined;
  };
  for (const { 0: word, 1: label, 2: letter, 3: content, index } of text.matchAll(WORD)) {
    const between = text.slice(end, index);
    const charset = label!.split("*")[0]!.toLowerCase(); // RFC 2231 adds a language
    const encoding = letter!.toLowerCase();
    if (!run || between.trim() !== "" || run.charset !== charset || run.encoding !== encoding) {
      const wasWord = run !== undefined && between.trim() === "";
      flush();
      if (!wasWord) decoded += between;
      run = { charset, encoding, pieces: [] };
    }
    run.pieces.push(encoding === "b" ? Buffer.from(content!, "base64") : readQ(content!));
    end = index + word.length;
  }
  flush();
  return decoded + text.slice(end);
}

function readQ(content: string): Buffer {
  const bytes = content.replaceAll("_", " ")
    .replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  return /[^\0-\xff]/.test(bytes) ? Buffer.from(bytes) : Buffer.from(bytes, "latin1");
}
