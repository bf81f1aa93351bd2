import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { buildCbom } from "../../judgement/compliance/mod.ts";
import { ROOT } from "../../config.ts";
import { listLedgerKeys } from "../../ledger/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  name: string;
  version: string;
};
const PRODUCT = { name, version };

/** Bill of materials of the cryptography in use. */
export const cbom = operation({
  name: "security.cbom",
  group: "core",
  summary: "Get the cryptographic bill of materials (CycloneDX 1.6)",
  description:
    "Lists the algorithms in use with the files that use them, the ledger's public keys, the servers' certificate where " +
    "there is one, and TLS.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    bomFormat: z.literal("CycloneDX"),
    specVersion: z.literal("1.6"),
    serialNumber: z.string(),
    version: z.number().int(),
    metadata: z.looseObject({ timestamp: Timestamp }),
    components: z.array(z.looseObject({
      type: z.string(),
      "bom-ref": z.string(),
      name: z.string(),
      cryptoProperties: z.looseObject({ assetType: z.string() }),
    })),
    dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
  }),
  rest: { cbom: "GET /v1/security/cbom", cbom_alias: "GET /api/v1/security/cbom" },
  example: {
    input: {},
    output: buildCbom({ product: PRODUCT, ledgerKeys: [], at: "2026-07-01T12:00:00.000Z" }),
  },
  run: async (_, { store, config: { settings } }) => {
    const path = settings.SEALOOP_TLS_CERT;
    const [keys, certificate] = await Promise.all([
      listLedgerKeys(store),
      path === undefined ? undefined : readFile(path, "utf8").catch(() => undefined),
    ]);
    return buildCbom({
      product: PRODUCT,
      ledgerKeys: keys.map(({ publicKey }) => publicKey),
      ...(certificate === undefined ? {} : { certificate }),
      at: new Date().toISOString(),
    });
  },
});
