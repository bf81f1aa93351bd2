/** State of the operator's own systems, in whose remote forms integrations work. */
import type { OutsideSystems } from "../../../integrations/outside/mod.ts";
import type { Finding, LookingProbe } from "./views.ts";

/** Returns the probes of the systems that are set, and that stand for a form of the platform's own. */
export function createRemoteProbes(
  { grc, rmm, mesh, soar, rag }: OutsideSystems,
): Readonly<
  Record<Exclude<keyof OutsideSystems, "audit" | "mastodon" | "oidc">, LookingProbe | undefined>
> {
  return {
    grc: grc && { mode: "remote", pause: grc.pause, look: () => lookAtRegister(grc) },
    rmm: rmm && { mode: "remote", pause: rmm.pause, look: () => lookAtFleet(rmm) },
    mesh: mesh && { mode: "remote", pause: mesh.pause, look: () => lookAtMeshCentral(mesh) },
    soar: soar && { mode: "remote", pause: soar.pause, look: () => lookAtN8n(soar) },
    rag: rag && { mode: "remote", pause: rag.pause, look: () => lookAtWeaviate(rag) },
  };
}

type System<Name extends keyof OutsideSystems> = NonNullable<OutsideSystems[Name]>;

async function lookAtRegister(grc: System<"grc">): Promise<Finding> {
  const { frameworks, assessments, applied_controls, risk_scenarios } = await grc.count();
  return {
    status: "ok",
    detail: `CISO Assistant has ${frameworks} frameworks, ${assessments} assessments, ` +
      `${applied_controls} applied controls and ${risk_scenarios} risk scenarios`,
  };
}

async function lookAtFleet(rmm: System<"rmm">): Promise<Finding> {
  const { total, online, offline } = await rmm.count();
  return {
    status: offline > 0 ? "degraded" : "ok",
    detail: `Fleet manages ${total} machines: ${online} online, ${offline} offline`,
  };
}

async function lookAtMeshCentral(mesh: System<"mesh">): Promise<Finding> {
  const devices = await mesh.listDevices();
  const connected = devices.filter(({ isConnected }) => isConnected).length;
  return {
    status: connected < devices.length ? "degraded" : "ok",
    detail: `MeshCentral is connected with ${connected} of ${devices.length} devices`,
  };
}

async function lookAtN8n(soar: System<"soar">): Promise<Finding> {
  await soar.check();
  return { status: "ok", detail: "n8n is healthy and accepts our key" };
}

async function lookAtWeaviate(rag: System<"rag">): Promise<Finding> {
  const collections = await rag.listCollections();
  const documents = collections.reduce((sum, one) => sum + one.documents, 0);
  return {
    status: collections.length > 0 ? "ok" : "degraded",
    detail: `Weaviate has ${documents} documents in ${collections.length} collections`,
  };
}

/** Looks at the trail that Keycloak keeps besides ours. */
export async function lookAtKeycloak(audit: System<"audit">): Promise<Finding> {
  return await audit.keepsEvents()
    ? { status: "ok", detail: "Keycloak keeps admin events and accepts our client" }
    : {
      status: "degraded",
      detail: "Keycloak keeps no admin events; turn them on in the realm's settings",
    };
}
