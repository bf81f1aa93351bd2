import { z } from "zod";

/** Settings of e-mail: one of the operator's own people. */
export const Email = z.strictObject({
  to: z.email().max(254).describe("Address of somebody of your own, as ops@example.com"),
});
