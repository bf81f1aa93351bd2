import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { type Db, inTenant } from "../../store/mod.ts";
import {
  APPLICATION_MOVES,
  type ApplicationStatus as Status,
  getApplication,
  listApplications,
  moveApplication,
  type PartnerApplication as Application,
} from "../../store/crm/mod.ts";
import {
  ApplicationId,
  ApplicationStatus,
  exampleApplication,
  PartnerApplication,
} from "./_schemas.ts";

/** Applications, newest first. */
export const applicationList = operation({
  name: "partners.list",
  group: "partners",
  summary: "List applications of partners, newest first",
  effect: "read",
  access: "admin",
  input: z.object({
    status: ApplicationStatus.optional().describe("Only applications with this status"),
    limit: z.number().int().min(1).max(500).default(100).describe(
      "Maximum number of entries to return",
    ),
  }),
  output: z.object({ total: z.number().int(), applications: z.array(PartnerApplication) }),
  rest: { partner_list: "GET /api/v1/admin/partner-applications" },
  example: {
    input: { status: "reviewing" },
    output: { total: 1, applications: [exampleApplication] },
  },
  run: async (filter, { store }) => await listApplications(store.asPlatform(), filter),
});

/** Moves an application. */
export const decideApplication = operation({
  name: "partners.move",
  group: "partners",
  summary: "Move an application: new → reviewing → approved or rejected; rejected → reviewing",
  description:
    "Approving issues no key and promises nothing by itself: issue one with POST /v1/keys/generate.",
  effect: "write",
  access: "admin",
  input: z.object({
    application_id: ApplicationId,
    status: ApplicationStatus.describe("Status to move it to"),
    version: z.number().int().min(1).optional().describe(
      "Version that you have read: if it has another one by now, it is not moved (409)",
    ),
  }),
  output: PartnerApplication,
  rest: { partner_update: "PATCH /api/v1/admin/partner-applications/{application_id}" },
  presentation: { errors: ["NotFound", "Conflict"] },
  governance: {
    rule: "key-decides",
    async check({ application_id, status }, { store }) {
      requireMove(await requireApplication(store.asPlatform(), application_id), status);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { application_id: 17, status: "reviewing" },
    output: exampleApplication,
  },
  run: async ({ application_id, status, version }, { caller, commit }) =>
    await commit((trx) =>
      inTenant(trx, PLATFORM_TENANT, async (platform) => {
        const before = await requireApplication(platform, application_id);
        requireMove(before, status);
        const receiptId = randomHex(16);
        const isRead = version === undefined || version === before.version;
        if (!isRead || !await moveApplication(platform, before, status, receiptId)) {
          throw new Problem("Conflict", `Application ${application_id} was changed; read it again`);
        }
        await requestSeal(platform, {
          id: receiptId,
          category: "partner_application",
          actor: `key:${caller.keyId}`,
          subject: `application:${application_id}`,
          action: "partners.move",
          outcome: status,
          details: { from: before.status },
        });
        return (await getApplication(platform, application_id))!;
      })
    ),
});

async function requireApplication(db: Db, id: number): Promise<Application> {
  const application = await getApplication(db, id);
  if (application) return application;
  throw new Problem("NotFound", `There is no application ${id}`);
}

/** @throws {Problem} `Conflict`: this move is none of those from its status */
function requireMove({ application_id, status }: Application, to: Status): void {
  const moves: readonly string[] = APPLICATION_MOVES[status];
  if (moves.includes(to)) return;
  const possible = moves.length > 0 ? `it can become ${moves.join(" or ")}` : "that is its end";
  throw new Problem(
    "Conflict",
    `Cannot move application ${application_id} to ${to}: it is ${status}, and ${possible}`,
  );
}
