/** The people file in force. It is in versions, each of them sealed. */
import type { Config } from "../../config.ts";
import { BadFile, type FollowedFile, settingsFilePath } from "../../integrations/files/mod.ts";
import { checkPolicy, type FilePolicy, followPolicy } from "../../integrations/policy_files/mod.ts";
import type { Follower } from "../../integrations/settings_files/mod.ts";
import { currentPolicy } from "../../store/calls/mod.ts";
import type { Db } from "../../store/mod.ts";
import { applyToPeople } from "./keys_of_people.ts";
import { type PeopleFile, readPeopleFile } from "./people_file.ts";

const POLICY: FilePolicy<PeopleFile> = {
  table: "people_policies",
  subject: "people-file",
  actor: "worker",
  details: ({ people }) => ({ entries: people.length }),
  async apply(trx, file, before) {
    if (before?.issuer && file.issuer === null && file.people.length > 0) throw withoutIssuer();
    await applyToPeople(trx, file);
  },
};

/** Returns the file in force; undefined: none was ever put in force. */
export async function currentPeopleFile(db: Db): Promise<PeopleFile | undefined> {
  const stored = await currentPolicy(db, "people_policies");
  return stored && stored.policy as PeopleFile;
}

/** Reads the file, and puts nothing in force. @throws {BadFile} */
export function checkPeopleFile(config: Config): void {
  checkPolicy(settingsFilePath(config, "people"), (text) => readPeopleFile(text, issuerOf(config)));
}

/** Follows the file, as {@linkcode followPolicy} does. With each change the keys of all people become what it gives them. */
export async function followPeopleFile(follower: Follower): Promise<FollowedFile> {
  const read = (text: string) => readPeopleFile(text, issuerOf(follower.config));
  return await followPolicy({ name: "people", policy: POLICY, read }, follower);
}

const issuerOf = ({ settings }: Config) => settings.SEALOOP_OIDC_ISSUER ?? null;

/** A worker that lacks the setting would take the keys of all people away. */
function withoutIssuer(): BadFile {
  const text = "SEALOOP_OIDC_ISSUER is not set on this worker; set it as on the others";
  return new BadFile([{ line: 1, text, open: text }]);
}
