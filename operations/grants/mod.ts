/** Standing grants: acts that people allow beforehand, each exactly as they were asked about it. @module */
import type { ApprovalSubject, Platform } from "../../calls/mod.ts";
import { getGrant } from "../../store/grants/mod.ts";
import { grantList, grantMake, grantRevoke, grantStatement } from "./grants.ts";

/** A grant that takes more people than the one who has made it. */
export const grantSubject: ApprovalSubject<Platform> = {
  ids: /^GRN-[0-9a-f]{12}$/,

  async end(db, id) {
    const grant = await getGrant(db, id);
    if (grant?.revokedAt) return "revoked";
    return grant && Date.parse(grant.terms.expires_at) <= Date.now() ? "expired" : undefined;
  },
};

/** Operations of this folder, all of them beyond the contract. */
export const grantOperations = [grantList, grantStatement, grantMake, grantRevoke];
