import type { OpenApiInfo } from "../contract/mod.ts";

/** Head of the gateway's description. */
export const GATEWAY_INFO: OpenApiInfo = {
  title: "sealoop gateway",
  description: `IT operations whose every act is durable and provable.

Send your API key in the header x-api-key. Governance decides each call that changes something before it runs. A call
that people have to approve first is answered with 202. With the header x-dry-run: true nothing runs: the answer says
what would be decided, with status 200 and the body of that 202.`,
};
