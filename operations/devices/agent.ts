import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { FileOutput, Problem } from "../../contract/mod.ts";
import { agentRelease, mintCode, readDeviceRoots, renderInstallScript } from "./protocol/mod.ts";
import { findTenantToken } from "../../store/keys/mod.ts";
import { type AgentFile, readAgent } from "../../judgement/shield/mod.ts";

/** Receipts of the releases that this process has requested, by the agents' hashes. */
const released = new WeakMap<Context["sealer"], Map<string, string>>();

/** Seals the release of the agent, once. @returns the receipt's id */
async function sealRelease({ sealer }: Pick<Context, "sealer">, agent: AgentFile): Promise<string> {
  const receipts = released.get(sealer) ?? new Map<string, string>();
  released.set(sealer, receipts);
  const known = receipts.get(agent.sha256);
  if (known) return known;
  const { id } = await sealer.request(agentRelease(agent));
  receipts.set(agent.sha256, id);
  return id;
}

/** Returns the agent. */
export const downloadAgent = operation({
  name: "devices.download",
  group: "devices",
  summary: "Download the agent, the same bytes for everybody",
  description:
    "One file of Python 3.6 or later, which needs nothing else. Its SHA-256 is in the header x-agent-sha256, and in the " +
    "receipt that x-receipt-id names.",
  effect: "read",
  access: "device",
  input: z.object({}),
  output: z.instanceof(FileOutput),
  rest: { agent_download: "GET /v1/devices/agent/download" },
  presentation: { media: "text/x-python; charset=utf-8" },
  governance: { limits: { counted: false } },
  example: { input: {}, output: new FileOutput(new Uint8Array(), "sealoop_agent.py") },
  run: async (_, context) => {
    const agent = await readAgent();
    return new FileOutput(agent.bytes, "sealoop_agent.py", {
      "x-agent-sha256": agent.sha256,
      "x-receipt-id": await sealRelease(context, agent),
      "cache-control": "no-cache",
    });
  },
});

/** Returns the script that makes one machine a device. */
export const installScript = operation({
  name: "devices.install",
  group: "devices",
  summary: "Get the script that installs the agent on one machine",
  description:
    "The script pins the agent's hash and the keys of ledger, log, witnesses and approvers. It holds a code for one " +
    "enrolment, valid for 15 minutes: treat it like a password.",
  effect: "read",
  access: "device",
  input: z.object({
    tenant_token: z.string().min(1).max(200).describe("Token of the organization: slp_tenant_…"),
  }),
  output: z.instanceof(FileOutput),
  rest: { agent_install: "GET /v1/devices/agent/install/{tenant_token}" },
  presentation: {
    errors: ["Forbidden", "Unavailable"],
    media: "text/x-shellscript; charset=utf-8",
  },
  governance: { limits: { counted: false } },
  example: {
    input: { tenant_token: "slp_tenant_…" },
    output: new FileOutput(new Uint8Array(), "install.sh"),
  },
  run: async ({ tenant_token }, context) => {
    const { store, failures, caller: { address }, urls } = context;
    const token = await findTenantToken(store.db, tenant_token);
    if (!token) {
      failures.check(address, "wrong tokens");
      failures.count(address);
      throw new Problem(
        "Forbidden",
        "This token is unknown, was replaced, or has expired; npm run tenants -- token gives another",
      );
    }
    const { trust } = await readDeviceRoots(store.forTenant(token.tenant));
    const agent = await readAgent();
    await sealRelease(context, agent);
    const script = await renderInstallScript({
      organization: token.tenant,
      server: urls.gateway,
      agentSha256: agent.sha256,
      pins: trust,
      code: await mintCode(store, token),
    });
    return new FileOutput(Buffer.from(script), "install.sh", { "cache-control": "no-store" });
  },
});
