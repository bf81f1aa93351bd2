import { decodeBase64, encodeBase64 } from "./base64.ts";
import { BadNote } from "./note.ts";

/** The statement of a checkpoint about the log. */
export interface Checkpoint {
  readonly origin: string;
  /** Number of leaves. */
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** Formats the text that is signed. @see C2SP tlog-checkpoint */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** Parses the text of a checkpoint. @throws {BadNote} */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, root] = text.split("\n");
  const hash = decodeBase64(root ?? "");
  const isSize = /^(0|[1-9]\d{0,15})$/.test(size ?? "") && Number.isSafeInteger(Number(size));
  if (!origin || !isSize || hash?.length !== 32) {
    throw new BadNote("A checkpoint has the lines origin, size, and root in base64");
  }
  return { origin, size: Number(size), root: hash };
}
