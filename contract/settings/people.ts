import { z } from "zod";
import { issuer, secret, text } from "./_kinds.ts";

/** People who sign in to the console by an identity provider. */
export const PEOPLE_SETTINGS = {
  SEALOOP_OIDC_ISSUER: issuer(
    "Issuer of your identity provider (OpenID Connect) as it spells itself, by which people sign in, and whose access tokens the tool server takes; needs SEALOOP_OIDC_CLIENT_ID and the people file",
  ).optional(),
  SEALOOP_OIDC_CLIENT_ID: text("… and the id of the client that sealoop is there"),
  SEALOOP_OIDC_CLIENT_SECRET: secret("… and its secret; unset: it is a public client"),
  SEALOOP_OIDC_SCOPES: z.string().regex(/^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/, {
    message: "Expected openid, then further scopes with one space between",
  }).default("openid profile email").describe("… and the scopes that it asks for"),
  SEALOOP_PEOPLE: text(
    "File of who may sign in by it, and what they may do; unset: sealoop.people.yaml in the data folder",
  ),
};
