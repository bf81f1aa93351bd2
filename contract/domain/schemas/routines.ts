import { z } from "zod";
import { ROUTINES } from "../routines.ts";

/** Schema of the type `Routine`. */
export const RoutineSchema = z.object({
  name: z.enum(ROUTINES),
  every_seconds: z.number().int().min(1),
});
