import { z } from "zod";

/** Name of a credential, or of a channel. */
export const Credential = z.string().regex(
  /^[a-z0-9][a-z0-9._-]{0,63}$/,
  "Expected small letters, digits and . _ -",
);
