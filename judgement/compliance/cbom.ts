import { createHash, X509Certificate } from "node:crypto";
import { DEFAULT_MAX_VERSION, DEFAULT_MIN_VERSION, getCiphers } from "node:tls";
import { type Algorithm, readAlgorithms } from "./algorithms.ts";

/** Facts about the platform for its cryptographic bill of materials. */
export interface CbomParts {
  readonly product: { readonly name: string; readonly version: string };
  /** Public keys of the ledger, oldest first, hex; the last one signs. */
  readonly ledgerKeys: readonly string[];
  /** The servers' certificate chain, PEM; absent: they speak plain HTTP. */
  readonly certificate?: string;
  /** ISO 8601. */
  readonly at: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

let algorithms: readonly Algorithm[] | undefined;

/**
 * Builds a cryptographic bill of materials: algorithms with the files that use them, the ledger's keys, the servers'
 * certificate, and the versions and suites of TLS.
 *
 * @see CycloneDX 1.6, `cryptoProperties`
 */
export function buildCbom({ product, ledgerKeys, certificate, at }: CbomParts) {
  const root = `${product.name}@${product.version}`;
  algorithms ??= readAlgorithms();
  const components = [
    ...algorithms.map(algorithmComponent),
    ...ledgerKeys.map((key, n) => keyComponent(key, n === ledgerKeys.length - 1)),
    tlsComponent(),
    ...(certificate?.match(CERTIFICATE) ?? []).map(certificateComponent),
  ];
  const digest = createHash("sha256").update(JSON.stringify([root, components])).digest("hex");
  return {
    bomFormat: "CycloneDX" as const,
    specVersion: "1.6" as const,
    serialNumber: `urn:uuid:${uuidFrom(digest)}`,
    version: 1,
    metadata: {
      timestamp: at,
      component: {
        type: "application",
        "bom-ref": root,
        name: product.name,
        version: product.version,
      },
    },
    components,
    dependencies: [
      { ref: root, dependsOn: components.map((component) => component["bom-ref"]) },
    ],
  };
}

function algorithmComponent(algorithm: Algorithm) {
  const { oid, parameters, curve, primitive } = algorithm;
  return {
    type: "cryptographic-asset",
    "bom-ref": algorithmRef(algorithm.ref),
    name: algorithm.name,
    description: algorithm.usedFor,
    cryptoProperties: {
      assetType: "algorithm",
      algorithmProperties: {
        primitive,
        ...(parameters ? { parameterSetIdentifier: parameters } : {}),
        ...(curve ? { curve } : {}),
        ...(primitive === "ae" ? { mode: "gcm" } : {}),
        executionEnvironment: "software-plain-ram",
        certificationLevel: ["none"],
        cryptoFunctions: algorithm.functions,
        classicalSecurityLevel: algorithm.classical,
        nistQuantumSecurityLevel: algorithm.quantum,
      },
      ...(oid ? { oid } : {}),
    },
    evidence: { occurrences: algorithm.where.map((location) => ({ location })) },
  };
}

function algorithmRef(ref: string): string {
  return `crypto/algorithm/${ref}`;
}

function keyComponent(hex: string, signs: boolean) {
  const fingerprint = createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
  return {
    type: "cryptographic-asset",
    "bom-ref": `crypto/key/${fingerprint}`,
    name: "The ledger's public key",
    cryptoProperties: {
      assetType: "related-crypto-material",
      relatedCryptoMaterialProperties: {
        type: "public-key",
        id: fingerprint,
        state: signs ? "active" : "deactivated",
        algorithmRef: algorithmRef("ed25519"),
        value: hex,
        size: 256,
        format: "raw, hexadecimal",
      },
    },
  };
}

function tlsComponent() {
  const suites = getCiphers().filter((name) => name.startsWith("tls_"));
  return {
    type: "cryptographic-asset",
    "bom-ref": "crypto/protocol/tls",
    name: "TLS",
    description: "Of the servers where a certificate is set, and of all calls to the outside",
    cryptoProperties: {
      assetType: "protocol",
      protocolProperties: {
        type: "tls",
        version: `${DEFAULT_MIN_VERSION.slice(4)} to ${DEFAULT_MAX_VERSION.slice(4)}`,
        cipherSuites: suites.map((name) => ({ name: name.toUpperCase() })),
      },
    },
  };
}

function certificateComponent(pem: string) {
  const { subject, issuer, validFrom, validTo, fingerprint256 } = new X509Certificate(pem);
  return {
    type: "cryptographic-asset",
    "bom-ref": `crypto/certificate/${fingerprint256.replaceAll(":", "").toLowerCase()}`,
    name: "A certificate of the servers",
    cryptoProperties: {
      assetType: "certificate",
      certificateProperties: {
        subjectName: subject,
        issuerName: issuer,
        notValidBefore: new Date(validFrom).toISOString(),
        notValidAfter: new Date(validTo).toISOString(),
        certificateFormat: "X.509",
      },
    },
  };
}

/** Makes a UUID of version 8 of the first 128 bits of a hash. @see RFC 9562 §5.8 */
function uuidFrom(hex: string): string {
  const variant = (parseInt(hex[16]!, 16) & 3 | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
