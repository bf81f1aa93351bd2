import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";

/** A server that shows a ledger, honest or not, to somebody who has pinned something. */
export interface ServerVector {
  readonly name: string;
  /** Name of a trust file. */
  readonly trust: string;
  /** 0: everything holds; 1: something does not; 2: nobody can tell. */
  readonly exit: 0 | 1 | 2;
  /** Pattern of the reason, which every verifier must give in words of its own; ignoring case. */
  readonly reason?: string;
  /** Answer of `/api/how-to-verify`; the names of what is not given are those of the genuine ledger. */
  readonly named: Readonly<Record<string, unknown>>;
  /** Answer of `/checkpoint`; null: 404. */
  readonly checkpoint: string | null;
  /** Records, oldest first; a number is the genuine record of that position. */
  readonly records: readonly (string | number)[];
  /** Number of receipts that the server says it has. */
  readonly total: number;
  /** Bytes that it sends behind each export. */
  readonly behind?: string;
  /** Records that its pages have under the same name before these; a stream begins with such a page. */
  readonly before?: readonly string[];
  /** Text of the answer of `/api/how-to-verify`, where it is not that of `named`. */
  readonly namedText?: string;
  /** Bytes after which it ends the connection of an export. */
  readonly cutAfter?: number;
}

/** All servers, and what they are made from. */
export interface Vectors {
  /** Genuine chains, by their names. */
  readonly chains: Readonly<Record<string, readonly string[]>>;
  readonly trust: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly servers: readonly (ServerVector & { readonly chain: string })[];
}

/** File of the vectors. `write_vectors.ts` writes it. */
export const VECTORS_FILE = join(ROOT, "test", "vectors", "hostile-servers.json");

/** Reads the vectors. */
export const readVectors = (): Vectors => JSON.parse(readFileSync(VECTORS_FILE, "utf8"));

/** Returns the records of a server as texts. */
export function recordsOf({ chains }: Vectors, server: Vectors["servers"][number]): string[] {
  return server.records.map((record) =>
    typeof record === "number" ? chains[server.chain]![record]! : record
  );
}
