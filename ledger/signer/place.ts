import { dirname, join } from "node:path";
import { openFolder } from "./_journal.ts";
import type { JournalPlace } from "./_journal_place.ts";
import { openObjects } from "./_object_journal.ts";
import type { JournalObjects } from "./journal_objects.ts";

/** Returns the folder of the journal beside a signing key. */
export const signerFolder = (keyFile: string): string => join(dirname(keyFile), "signer");

/** Returns where the journal of a key is: in these objects, or in the folder beside the key's file. */
export function openPlace(keyFile: string, objects: JournalObjects | undefined): JournalPlace {
  return objects ? openObjects(objects) : openFolder(signerFolder(keyFile));
}
