import { z } from "zod";
import { APPLICATION_MOVES } from "../../store/crm/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** State of an application. */
export const ApplicationStatus = z.enum(
  Object.keys(APPLICATION_MOVES) as (keyof typeof APPLICATION_MOVES)[],
);

/** Number of an application. */
export const ApplicationId = z.number().int().min(1).max(2_147_483_647).describe(
  "Number of the application",
);

/** An application. */
export const PartnerApplication = z.object({
  application_id: ApplicationId,
  name: z.string(),
  email: z.string(),
  company: z.string(),
  website: z.string().nullable(),
  message: z.string(),
  status: ApplicationStatus,
  consent_at: Timestamp,
  created_at: Timestamp,
  changed_at: Timestamp,
  version: z.number().int(),
  receipt_id: z.string().describe("Receipt of the newest move"),
}).meta({ id: "PartnerApplication" });

/** An application, in examples. */
export const exampleApplication: z.output<typeof PartnerApplication> = {
  application_id: 17,
  name: "Ada Lovelace",
  email: "ada@example.com",
  company: "Analytical Engines",
  website: "https://engines.example.com",
  message: "We would like to resell your platform in London.",
  status: "reviewing",
  consent_at: "2026-07-01T12:00:00.000Z",
  created_at: "2026-07-01T12:00:00.000Z",
  changed_at: "2026-07-02T09:00:00.000Z",
  version: 2,
  receipt_id: "4f1d22a90b7c4f1d",
};
