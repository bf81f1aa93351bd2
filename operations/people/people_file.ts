/** The people file: who may sign in by the identity provider, and what they may do. */
import { z } from "zod";
import { nameProblem } from "../../contract/mod.ts";
import { PLATFORM_TENANT, SHARED_TENANT } from "../../contract/domain/mod.ts";
import { BadFile, readYaml } from "../../integrations/files/mod.ts";
import type { ProviderIdentity } from "../../store/people/mod.ts";

/** Rights of people, as their keys allow them. */
const RIGHTS = ["read", "respond", "approve", "operate"] as const;

const MAX_GROUPS = 1_000;

const Name = z.string().min(1).max(300);
const Tenant = z.string().min(1).max(200).superRefine((name, context) => {
  const trouble = name === SHARED_TENANT
    ? "is no organization: it owns what all tenants may read"
    : nameProblem(name);
  if (trouble) context.addIssue({ code: "custom", message: `The name ${trouble}` });
});

const ENTRY = z.strictObject({
  group: Name.optional().describe("A group, as the provider names it"),
  subject: Name.optional().describe("Or one person, by their id at the provider (`sub`)"),
  principal: Name.optional().describe(
    "With subject: who they are among the holders of keys, so that a person with a key counts as one",
  ),
  tenant: Tenant.default(PLATFORM_TENANT).describe(
    "Organization whose things they see; platform is the operator's",
  ),
  rights: z.array(z.enum(RIGHTS)).min(1).describe(
    "read; respond: also take, close and stop; approve: with a passkey; operate: what takes a key of tier admin",
  ),
}).superRefine(({ group, subject, principal, tenant, rights }, context) => {
  const add = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  if ((group === undefined) === (subject === undefined)) {
    add(group === undefined ? "group" : "subject", "Expected either group or subject");
  }
  if (principal !== undefined && subject === undefined) {
    add("principal", "Expected subject beside it: a group is not one person");
  }
  if (rights.includes("operate") && tenant !== PLATFORM_TENANT) {
    add("rights", `operate reaches every tenant, so it is for people of ${PLATFORM_TENANT} alone`);
  }
});

const PEOPLE_FILE = z.strictObject({
  groups_claim: z.string().min(1).max(200).default("groups").describe(
    "Claim in which the provider names the groups of a person",
  ),
  people: z.array(ENTRY).max(1_000).default([]).describe(
    "The first entry that fits gives the tenant; all that fit and name this tenant give rights",
  ),
});

/** The file as it is put in force. */
export type PeopleFile = z.output<typeof PEOPLE_FILE> & {
  /** Provider whose people it means; null: none is set, so that it means nobody. */
  readonly issuer: string | null;
};

/** Rights that the file gives a person. */
export interface Grant {
  readonly tenant: string;
  readonly rights: readonly (typeof RIGHTS[number])[];
  /** As whom they act; undefined: as themselves. */
  readonly principal: string | undefined;
}

/** Returns the JSON Schema of the file, for editors. */
export function peopleFileSchema(): Record<string, unknown> {
  return { title: "The people file of sealoop", ...z.toJSONSchema(PEOPLE_FILE, { io: "input" }) };
}

/** Reads the text of a file. @param issuer whose people it means @throws {BadFile} */
export function readPeopleFile(text: string, issuer: string | null): PeopleFile {
  const read = readYaml(text, PEOPLE_FILE);
  if ("value" in read) return { issuer, ...read.value };
  throw new BadFile(read.mistakes);
}

/** Returns the groups of a person, as the claims of a token of the provider name them. */
export function groupsOf(
  { groups_claim }: Pick<PeopleFile, "groups_claim">,
  claims: Readonly<Record<string, unknown>>,
): string[] {
  const claim = claims[groups_claim];
  const all = Array.isArray(claim) ? claim : [claim];
  return all.filter((one) => typeof one === "string").slice(0, MAX_GROUPS);
}

/** Returns what a file gives a person; undefined: nothing, so that they may not sign in. */
export function grantOf(
  file: PeopleFile,
  { issuer, subject, groups }: ProviderIdentity,
): Grant | undefined {
  if (issuer !== file.issuer) return undefined;
  const fitting = file.people.filter((entry) =>
    entry.subject === undefined ? groups.includes(entry.group!) : entry.subject === subject
  );
  const tenant = fitting[0]?.tenant;
  if (tenant === undefined) return undefined;
  const own = fitting.filter((entry) => entry.tenant === tenant);
  return {
    tenant,
    rights: RIGHTS.filter((right) => own.some(({ rights }) => rights.includes(right))),
    principal: own.find(({ principal }) => principal !== undefined)?.principal,
  };
}
