import { z } from "zod";
import type { Config } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { isBuiltInAgent } from "../../contract/domain/mod.ts";
import { BadFile, readYamlFile, settingsFilePath } from "../files/mod.ts";

const Peer = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "Expected a small letter, then letters, digits, -")
    .refine((id) => !isBuiltInAgent(id), "An agent of the platform itself has this name"),
  name: z.string().min(1).max(100),
  url: z.url({ protocol: /^https?$/ })
    .describe("Its card is at /.well-known/agent-card.json of this address"),
  credential: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/).optional()
    .describe("Name of the credential that it gets as a bearer token; absent: none"),
});
const File = z.record(
  z.string().min(1).max(200).describe("A tenant"),
  z.array(Peer).max(50).refine((all) => new Set(all.map(({ id }) => id)).size === all.length, {
    error: "An id is listed twice",
  }),
);

/** An agent of another organization, as the operator has configured it. */
export type Peer = z.output<typeof Peer>;

/**
 * Returns the agents of other organizations that a tenant may talk to. Without a file there are none.
 *
 * @throws {Problem} `NotConfigured`: the file is wrong, with each mistake and its line
 */
export function listPeers(config: Config, tenant: string): readonly Peer[] {
  const read = readYamlFile(settingsFilePath(config, "peers"), File);
  if ("value" in read) return read.value[tenant] ?? [];
  const cause = new BadFile(read.mistakes);
  const message = `Cannot use the operator's file of peers: ${cause.message}`;
  throw new Problem("NotConfigured", message, { cause });
}
