/** Inputs by which strangers exhaust its reader. */

/** A mail: its head, and parts that are repeated. */
export interface MailBomb {
  readonly part: string;
  readonly count: number;
}

const HEAD = "From: stranger@example.net\r\nTo: sealoop@sealoop.local\r\nSubject: Boom\r\n" +
  "Message-ID: <boom@example.net>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
  "--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n";

/** It passes what is counted before, and takes minutes to read: the links of its HTML are never closed. */
export const MAIL_BOMB: MailBomb = {
  part: `--b\r\nContent-Type: text/html\r\n\r\n${"<a href=".repeat(25_000)}\r\n`,
  count: 40,
};

/** 9.5 MiB of empty parts. */
export const MAIL_OF_EMPTY_PARTS: MailBomb = { part: "--b\r\n\r\n", count: 1_423_000 };

/** Parts within parts, of which each declares a boundary of its own. */
export function mailOfDepth(depth: number): Buffer {
  const parts = Array.from(
    { length: depth },
    (_, n) => `--b${n || ""}\r\nContent-Type: multipart/mixed; boundary=b${n + 1}\r\n\r\n`,
  );
  return Buffer.from(HEAD + parts.join(""));
}

/** Returns the bytes of a bomb. */
export function bombOf({ part, count }: MailBomb): Buffer {
  return Buffer.from(`${HEAD}${part.repeat(count)}--b--\r\n`);
}

/** One alert with so many labels that whoever checks each of them does nothing else for seconds. */
export const ALERT_BOMB: string = JSON.stringify([{
  fingerprint: "b0",
  labels: Object.fromEntries(Array.from({ length: 600_000 }, (_, n) => [`a${n}`, ""])),
  endsAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  status: { silencedBy: [], inhibitedBy: [] },
}]);

/** 8 MiB of lists within lists. */
export const DEEP_ALERT_BOMB: string = "[".repeat(4_000_000) + "]".repeat(4_000_000);

/** Lines that may be of a firewall in thousands of ways, each of which is tried: a minute in all. */
export const LOG_BOMB: readonly string[] = Array(4_000)
  .fill(`${"IN=".repeat(13)}${" SRC=a".repeat(320)}\n`);
