/** Files of receipts, whole ones and others, that all verifiers read by one rule. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { contents, genesis, ledger, own } from "../hostile/_genuine.ts";
import { makeKey, seal } from "../hostile/_chain.ts";

/** A file, and what a verifier ends with. */
export interface FileVector {
  readonly name: string;
  /** 0: it is a whole ledger; 1: something in it does not hold; 2: it is refused, and not judged. */
  readonly exit: 0 | 1 | 2;
  /** The file's bytes in base64; `parts` of it that are receipts of the genuine chain are their positions. */
  readonly parts: readonly (string | number)[];
}

/** File of the vectors. `write_receipt_files.ts` writes it. */
export const FILE_VECTORS = join(ROOT, "test", "vectors", "receipt-files.json");

/** Vectors as the file has them. */
export interface FileVectors {
  readonly chain: readonly string[];
  readonly files: readonly FileVector[];
}

export const readFileVectors = (): FileVectors => JSON.parse(readFileSync(FILE_VECTORS, "utf8"));

/** Returns the bytes of a file. */
export function bytesOf({ parts }: FileVector, chain: readonly string[]): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === "number" ? Buffer.from(chain[part]!) : Buffer.from(part, "base64")
    ),
  );
}

/** Makes the vectors: genuine chains in each form, and what is wrong with them. */
export function makeFileVectors(): FileVectors {
  const chain = own.slice(0, 4);
  const files: FileVector[] = [];
  const numbers = chain.map((_, n) => n);
  const text = (value: string | Uint8Array) => Buffer.from(value).toString("base64");
  const add = (exit: 0 | 1 | 2, name: string, ...pieces: (string | Uint8Array | number)[]) =>
    files.push({
      name,
      exit,
      parts: pieces.map((one) => typeof one === "number" ? one : text(one)),
    });
  const join = (separator: string, list: readonly (number | string)[] = numbers) =>
    list.flatMap((n, at) => at === 0 ? [n] : [separator, n]);
  const lines = join("\n");
  const page = (before: string, after: string, list: readonly (number | string)[] = numbers) =>
    [`{${before}"receipts":[`, ...join(",", list), `]${after}}`] as const;
  const spaced = chain.map((record) => record.replace(/^{/, "{ \n "));
  const attacker = makeKey("attacker of files");
  const forged: string[] = [];
  for (const fields of [genesis(attacker, makeKey("its recovery key")), ...contents(1, 4)]) {
    const last = forged.at(-1);
    forged.push(seal(fields, forged.length, last ? JSON.parse(last).hash_sha256 : "", attacker));
  }

  add(0, "one a line", ...lines, "\n");
  add(0, "one a line, the last without a line break", ...lines);
  add(0, "one a line, with blank lines and CRLF", "\r\n", ...join("\r\n \t\r\n"), "\r\n\r\n");
  add(0, "one a line, newest first", ...join("\n", numbers.toReversed()), "\n");
  add(0, "an array", "[", ...join(","), "]");
  add(
    0,
    "an array, newest first, with spaces",
    " [\n",
    ...join(" ,\n", numbers.toReversed()),
    "\n]\n",
  );
  add(0, "a page", ...page('"from":0,"to":4,"count":4,"total":4,', ""));
  add(0, "a page of which fields come behind the receipts", ...page("", ',"total":4,"from":0'));
  add(0, "a page of several lines", ...page('\n"total" : 4.0 ,\n ', "\n", spaced), "\n");
  add(0, "a page that names its receipts in escapes", ...spelled(page("", "")));
  add(0, "a page that names its key", ...page(keysOf(ledger.hex), ""));

  add(2, "an empty file");
  add(2, "spaces alone", " \n\n");
  add(2, "an empty array", "[]");
  add(2, "a page without receipts", ...page("", "", []));
  add(2, "a page whose receipts are no array", '{"receipts":{"0":', 0, "}}");
  add(2, "receipts twice, with the genuine ones first", ...page("", `,"receipts":[${forged}]`));
  add(2, "receipts twice, with the genuine ones last", ...page(`"receipts":[${forged}],`, ""));
  add(2, "receipts twice, once in escapes", ...page(`"\\u0072eceipts":[${forged}],`, ""));
  add(2, "receipts twice, the second time in escapes", ...page("", ',"\\u0072eceipts":[]'));
  add(2, "receipts twice, once as null", ...page("", ',"receipts":null'));
  add(2, "a field of the page twice", ...page('"total":4,', ',"total":5'));
  add(2, "a field twice, deep in the page", ...page('"note":{"a":[{"b":1,"b":2}]},', ""));
  add(1, "a field twice in a receipt", ...lines.with(2, edited(chain[1]!)), "\n");
  add(2, "a page, and a page behind it", ...page("", ""), "\n", ...page("", "", forged));
  add(2, "a page, and a receipt a line behind it", ...page("", ""), "\n", ...forged.join("\n"));
  add(2, "an array, and a line behind it", "[", ...join(","), "]\n", forged[0]!);
  add(2, "one a line, and a page behind them", ...lines, "\n", ...page("", "", forged));
  add(
    2,
    "one a line, and a page behind them that names its receipts in escapes",
    ...lines,
    "\n",
    ...spelled(page("", "", forged)),
  );
  add(2, "a page with half a line behind it", ...page("", ""), '\n{"id":"x","ha');
  add(2, "half a line at the end", ...lines, '\n{"id":"x","ha');
  add(2, "half a receipt at the end", ...lines.slice(0, -1), chain[3]!.slice(0, 200));
  add(2, "half an array", "[", ...join(","));
  add(2, "a word behind the lines", ...lines, "\nnull\n");
  add(2, "a number behind an array", "[", ...join(","), "] 1");
  add(2, "an array of which one entry is none", "[", ...join(","), ",7]");
  add(2, "an array with a comma too many", "[", ...join(","), ",]");
  add(2, "an array without a comma", "[", ...join(" "), "]");
  add(2, "lines with commas", ...join(",\n"), "\n");
  add(2, "two receipts on a line", ...join(" "), "\n");
  add(2, "a receipt over several lines among others", ...lines.with(2, spaced[1]!), "\n");
  add(2, "a mark of the order of bytes before lines", "\ufeff", ...lines);
  add(2, "a mark of the order of bytes before a page", "\ufeff", ...page("", ""));
  add(2, "a byte of zero behind", ...lines, "\n\0");
  add(
    2,
    "bytes that are no UTF-8 in the page",
    '{"x":"',
    Uint8Array.of(0xff),
    `",`,
    ...page("", "").slice(0, 1).map((s) => String(s).slice(1)),
    ...join(","),
    "]}",
  );
  add(2, "half a pair of surrogates in the page", ...page('"x":"\\ud800",', ""));
  add(2, "U+0000 in the page", ...page('"x":"\\u0000",', ""));
  add(2, "a number beyond all doubles", ...page('"x":1e400,', ""));
  add(2, "a number that is none", ...page('"x":NaN,', ""));
  add(2, "a word with a space in it", ...page('"x":tr ue,', ""));
  add(
    2,
    "a page that is nested too deep",
    ...page(`"x":${"[".repeat(80)}${"]".repeat(80)},`, ""),
  );
  add(1, "a total that is larger", ...page('"total":5,', ""));
  add(1, "a total that is smaller", ...page('"total":3,', ""));
  add(2, "a total that is a text", ...page('"total":"4",', ""));
  add(2, "a total that is null", ...page('"total":null,', ""));
  add(2, "a total that is true", ...page('"total":true,', ""));
  add(2, "a total that is negative", ...page('"total":-4,', ""));
  add(2, "a total beyond what is exact", ...page('"total":9007199254740993,', ""));
  add(1, "a count of others", ...page('"count":3,', ""));
  add(2, "a compressed file", Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0));
  add(2, "a page of the name __proto__ twice", ...page('"__proto__":{},"__proto__":{},', ""));
  add(
    0,
    "a page with a field of the name __proto__",
    ...page('"__proto__":{"receipts":[]},', ""),
  );
  return { chain, files };
}

const keysOf = (key: string) =>
  `"keys":[{"public_key":"${key}","from_position":0,"recovery_key":"${
    makeKey("recovery key of the ledger").hex
  }"}],`;

/** Spells the name of the receipts of a page in escapes. */
const spelled = ([head, ...rest]: readonly (number | string)[]) => [
  String(head).replace('"receipts"', '"\\u0072eceip\\u0074s"'),
  ...rest,
];

/** Has one outcome for readers that take the first of two, and another for the others. */
const edited = (record: string) =>
  record.replace('"outcome":"ok"', '"outcome":"no","outcome":"ok"');
