import { createHash, randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathBelow } from "../files/mod.ts";
import type { MailAddress } from "./addresses.ts";

/** Folder of mailboxes within the data folder. */
const MAIL_FOLDER = "mail";

/**
 * Returns the folder of a mailbox, in the Maildir form that mail programs read. Sub-addresses have the same one.
 *
 * @see https://cr.yp.to/proto/maildir.html
 */
export function mailboxFolder(dataDir: string, { key, domain }: MailAddress): string {
  const mailbox = encodeURIComponent(key.slice(0, key.lastIndexOf("@")));
  return pathBelow(pathBelow(join(dataDir, MAIL_FOLDER), domain), mailbox);
}

/**
 * Delivers a mail to a mailbox, once: the same bytes again change nothing. It appears with all of its content, and
 * survives a crash of the machine.
 *
 * @returns false where the mailbox has it already
 */
export async function deliverToMailbox(folder: string, bytes: Buffer): Promise<boolean> {
  const subfolders = ["tmp", "new", "cur"].map((name) => join(folder, name));
  await Promise.all(subfolders.map((one) => mkdir(one, { recursive: true, mode: 0o700 })));
  if (await isInMailbox(folder, bytes)) return false;
  const temporary = join(folder, "tmp", randomBytes(8).toString("hex"));
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, join(folder, "new", nameOf(bytes)));
    await syncFolder(join(folder, "new"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns whether a mailbox has a mail: new, or moved by a mail program, which adds flags to its name. */
export async function isInMailbox(folder: string, bytes: Buffer): Promise<boolean> {
  const name = nameOf(bytes);
  const listings = await Promise.all(
    ["new", "cur"].map((one) => readdir(join(folder, one)).catch(() => [])),
  );
  return listings.flat().some((entry) => entry === name || entry.startsWith(`${name}:`));
}

/** Returns the name of a mail's file. It is made from the bytes alone, so that a copy has the same one. */
function nameOf(bytes: Buffer): string {
  return `${createHash("sha256").update(bytes).digest("hex")}.sealoop`;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
