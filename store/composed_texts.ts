import { createHash } from "node:crypto";
import { ComposedText, type Span } from "../contract/domain/mod.ts";
import type { Db } from "./connection.ts";

/** Most texts of one value that are kept. */
const MAX_KEPT = 1_000;
/** Shorter texts can't hold an instruction. */
const MIN_LENGTH = 12;

/**
 * Keeps where the composed texts in a value quote others, beside the records that store them as plain texts. A text that is
 * stored again is kept once.
 *
 * @param value JSON with {@linkcode ComposedText}s
 */
export async function keepComposedTexts(db: Db, value: unknown): Promise<void> {
  const found = new Map<string, readonly Span[]>();
  for (const text of findComposed(value)) {
    if (text.length < MIN_LENGTH || found.size >= MAX_KEPT) continue;
    const plain = toPlain(text);
    found.set(hashOf(plain.text), plain.quoted);
  }
  if (found.size === 0) return;
  await db.execute(
    `INSERT INTO composed_texts (sha256, quoted)
     SELECT decode(sha256, 'hex'), quoted FROM jsonb_to_recordset($1) AS n (sha256 text, quoted jsonb)
     ORDER BY sha256
     ON CONFLICT DO NOTHING`,
    [JSON.stringify([...found].map(([sha256, quoted]) => ({ sha256, quoted })))],
  );
}

/**
 * Returns those of the texts that the platform has composed itself, with their quotes. A text is known whatever
 * escapes of Markdown it has, and with or without the full stop that ends it.
 */
export async function recallComposedTexts(
  db: Db,
  texts: readonly string[],
): Promise<ReadonlyMap<string, ComposedText>> {
  const asked = texts.map((text) => ({ text, plain: plainText(text) }));
  const hashes = asked.map(({ plain }) => hashOf(plain));
  const rows = await db.query<{ hash: string; quoted: readonly Span[] }>(
    `SELECT encode(sha256, 'hex') AS hash, quoted FROM composed_texts
     WHERE sha256 IN (SELECT decode(hash, 'hex') FROM unnest($1::text[]) hash)`,
    [hashes],
  );
  const known = new Map(rows.map(({ hash, quoted }) => [hash, quoted]));
  return new Map(asked.flatMap(({ text, plain }, n) => {
    const quoted = known.get(hashes[n]!);
    return quoted ? [[text, new ComposedText(plain, quoted)] as const] : [];
  }));
}

function* findComposed(value: unknown): Generator<ComposedText> {
  if (value instanceof ComposedText) yield value;
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* findComposed(inner);
  }
}

/** Returns a text as it is compared: without escapes of Markdown, and on one line. */
function toPlain({ text, quoted }: ComposedText): ComposedText {
  const at = (end: number) => plainText(text.slice(0, end)).length;
  return new ComposedText(plainText(text), quoted.map(([from, to]): Span => [at(from), at(to)]));
}

const plainText = (text: string) => text.replaceAll("\\", "").replace(/[\r\n]+/g, " ");

const hashOf = (plain: string) =>
  createHash("sha256").update(plain.replace(/[.\s]+$/, "")).digest("hex");
