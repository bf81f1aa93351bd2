import { z } from "zod";
import { Count, MediaId, Name } from "./ids.ts";
import { RunIdSchema } from "./incidents.ts";

/** Schema of the type `MediaOrder`. */
export const MediaOrderSchema = z.object({
  run: RunIdSchema,
  id: MediaId,
  scenes: Count.optional(),
  requested_by: Name,
});

/** Schema of the type `SceneOrder`. */
export const SceneOrderSchema = z.object({ id: MediaId, n: Count });

/** Schema of the type `MediaRequest`. */
export const MediaRequestSchema = z.object({
  id: MediaId,
  scenes: Count.optional(),
  requested_by: Name,
});
