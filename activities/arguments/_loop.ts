import { z } from "zod";
import { ATTACKS, PlaceName, SCENARIOS } from "../../contract/domain/mod.ts";
import {
  ActionSchema,
  ApprovalId,
  argumentsOf,
  AttackRequestSchema,
  DrillId,
  DrillService,
  FindingSchema,
  Fingerprint,
  Name,
  RepairSubjectSchema,
  RunIdSchema,
  TestRequestSchema,
} from "../../contract/domain/schemas/mod.ts";
import {
  CloseOrderSchema,
  ObserveOrderSchema,
  RepairOrderSchema,
  RepairRequestSchema,
  RoundOrderSchema,
  TicketOrderSchema,
} from "./_orders.ts";

/** Schemas of the arguments of activities: loop. */
export const LOOP_ARGUMENTS = {
  openSandbox: argumentsOf(AttackRequestSchema),
  attackSandbox: argumentsOf(
    z.object({ id: DrillId, scenario: z.enum(ATTACKS), requested_by: Name, service: DrillService }),
  ),
  countAttack: argumentsOf(z.object({ service: DrillService })),
  removeSandbox: argumentsOf(z.object({ id: DrillId })),
  prepareTestService: argumentsOf(TestRequestSchema),
  breakTestService: argumentsOf(
    z.object({
      id: DrillId,
      scenario: z.enum(SCENARIOS),
      requested_by: Name,
      service: DrillService,
    }),
  ),
  removeTestService: argumentsOf(z.object({ id: DrillId })),
  removeStrayTestServices: argumentsOf(),
  runSecurityScan: argumentsOf(RunIdSchema),
  runDetectors: argumentsOf(z.object({ everyTenant: z.boolean(), shared: z.boolean() })),
  findChange: argumentsOf(z.object({ approval_id: ApprovalId })),
  findPlace: argumentsOf(
    z.object({ service: Name.nullable(), fingerprint: Fingerprint.nullable() }),
  ),
  lookForPlace: argumentsOf(PlaceName),
  listSweepPlaces: argumentsOf(),
  joinPlaces: argumentsOf(z.array(FindingSchema)),
  closeAndSeal: argumentsOf(CloseOrderSchema),
  undo: argumentsOf(RepairOrderSchema),
  remediate: argumentsOf(RepairRequestSchema),
  readEffect: argumentsOf(ActionSchema),
  getRepairHold: argumentsOf(RepairSubjectSchema),
  liftSilence: argumentsOf(RepairOrderSchema),
  observe: argumentsOf(ObserveOrderSchema),
  diagnose: argumentsOf(RoundOrderSchema),
  openTicket: argumentsOf(TicketOrderSchema),
  detect: argumentsOf(FindingSchema),
  verify: argumentsOf(RoundOrderSchema),
};
