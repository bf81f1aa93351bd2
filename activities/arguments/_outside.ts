import { z } from "zod";
import { ACT_STATES } from "../../contract/domain/mod.ts";
import {
  ActOrderSchema,
  argumentsOf,
  CommandId,
  Count,
  DiscoveryOrderSchema,
  RunIdSchema,
  Word,
} from "../../contract/domain/schemas/mod.ts";
import { CommandOrderSchema } from "./_orders.ts";

/** Schemas of the arguments of activities: outside. */
export const OUTSIDE_ARGUMENTS = {
  followCommand: argumentsOf(CommandOrderSchema),
  prepareCommand: argumentsOf(CommandOrderSchema),
  decideCommand: argumentsOf(CommandOrderSchema),
  issueCommand: argumentsOf(CommandOrderSchema),
  stopCommand: argumentsOf(CommandOrderSchema),
  intendAct: argumentsOf(ActOrderSchema, RunIdSchema),
  attemptAct: argumentsOf(ActOrderSchema),
  readAct: argumentsOf(
    ActOrderSchema,
    z.object({ execution_id: Word.nullable(), since_ms: Count }),
  ),
  sealAct: argumentsOf(
    ActOrderSchema,
    RunIdSchema,
    z.object({ state: z.enum(ACT_STATES), code: Word, execution_id: Word.nullable() }),
  ),
  discoverHosts: argumentsOf(DiscoveryOrderSchema),
  orderScan: argumentsOf(DiscoveryOrderSchema),
  awaitScan: argumentsOf(z.object({ order: DiscoveryOrderSchema, command_id: CommandId })),
};
