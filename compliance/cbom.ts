import { createHash, X509Certificate } from "node:crypto";
import { DEFAULT_MAX_VERSION, DEFAULT_MIN_VERSION, getCiphers } from "node:tls";

/** What is read of the platform for its inventory of cryptography. */
export interface CbomParts {
  readonly product: { readonly name: string; readonly version: string };
  /** Public keys of the ledger, oldest first, hex; the last one signs. */
  readonly ledgerKeys: readonly string[];
  /** The servers' certificate chain, PEM; undefined: they speak plain HTTP. */
  readonly certificate?: string;
  /** ISO 8601. */
  readonly at: string;
}

interface Algorithm {
  readonly ref: string;
  readonly name: string;
  readonly oid?: string;
  readonly primitive: "hash" | "signature" | "mac" | "ae" | "kdf" | "drbg";
  readonly functions: readonly string[];
  readonly parameters?: string;
  readonly curve?: string;
  /** Bits. */
  readonly classical: number;
  /** 0 to 6, NIST's categories; 0: none. */
  readonly quantum: number;
  readonly usedFor: string;
  /** Files of the product that use it. */
  readonly where: readonly string[];
}

/** Algorithms that the product's own code uses. What TLS and PostgreSQL agree on is theirs. */
export const ALGORITHMS: readonly Algorithm[] = [
  {
    ...{ ref: "ed25519", name: "Ed25519", oid: "1.3.101.112", primitive: "signature" },
    ...{ functions: ["keygen", "sign", "verify"], curve: "Ed25519", classical: 128, quantum: 0 },
    usedFor: "Signatures of receipts and of the log's checkpoints",
    where: ["ledger/_key.ts", "ledger/_ed25519.ts", "ledger/tlog/note.ts"],
  },
  {
    ...{ ref: "sha-256", name: "SHA-256", oid: "2.16.840.1.101.3.4.2.1", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "256", classical: 128, quantum: 2 },
    usedFor:
      "The chain of receipts, the Merkle log, commitments, hashes of keys, of articles and of actions, and timestamps",
    where: ["ledger/receipt.ts", "store/keys.ts", "ledger/ots/tree.ts", "engine/passages.ts"],
  },
  {
    ...{ ref: "sha-384", name: "SHA-384", oid: "2.16.840.1.101.3.4.2.2", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "384", classical: 192, quantum: 4 },
    usedFor: "Integrity of the scripts of the ledger's pages",
    where: ["ledger/page/assets.ts"],
  },
  {
    ...{ ref: "sha-512", name: "SHA-512", oid: "2.16.840.1.101.3.4.2.3", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "512", classical: 256, quantum: 5 },
    usedFor: "Within Ed25519, where a visitor's browser verifies receipts",
    where: ["ledger/page/browser/primitives.ts"],
  },
  {
    ...{ ref: "hmac-sha-256", name: "HMAC-SHA-256", oid: "1.2.840.113549.2.9", primitive: "mac" },
    ...{ functions: ["tag"], parameters: "256", classical: 256, quantum: 5 },
    usedFor: "Signatures of webhooks",
    where: ["integrations/webhook.ts"],
  },
  {
    ...{ ref: "aes-256-gcm", name: "AES-256-GCM", oid: "2.16.840.1.101.3.4.1.46", primitive: "ae" },
    ...{ functions: ["encrypt", "decrypt"], parameters: "256", classical: 256, quantum: 5 },
    usedFor: "Secrets of webhooks, as they are stored",
    where: ["integrations/secret_box.ts"],
  },
  {
    ...{ ref: "scram-sha-256", name: "SCRAM-SHA-256 (PBKDF2)", primitive: "kdf" },
    ...{ functions: ["keyderive"], parameters: "256", classical: 256, quantum: 5 },
    usedFor: "Passwords of the database that npm start brings along",
    where: ["embedded/_postgres_data.ts"],
  },
  {
    ...{ ref: "keccak-256", name: "Keccak-256", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "256", classical: 128, quantum: 2 },
    usedFor: "Verifying timestamps of others that use it; never for our own",
    where: ["ledger/ots/operation.ts"],
  },
  {
    ...{ ref: "sha-1", name: "SHA-1", oid: "1.3.14.3.2.26", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "160", classical: 63, quantum: 0 },
    usedFor: "Verifying timestamps of others that use it; never for our own",
    where: ["ledger/ots/operation.ts"],
  },
  {
    ...{ ref: "ripemd-160", name: "RIPEMD-160", oid: "1.3.36.3.2.1", primitive: "hash" },
    ...{ functions: ["digest"], parameters: "160", classical: 80, quantum: 1 },
    usedFor: "Verifying timestamps of others that use it; never for our own",
    where: ["ledger/ots/operation.ts"],
  },
  {
    ...{ ref: "ctr-drbg", name: "OpenSSL's random bit generator", primitive: "drbg" },
    ...{ functions: ["generate"], classical: 256, quantum: 5 },
    usedFor: "API keys, salts, nonces and ids",
    where: ["store/keys.ts", "ledger/receipt.ts", "integrations/secret_box.ts"],
  },
];

const refOf = (ref: string) => `crypto/algorithm/${ref}`;

/**
 * A cryptographic bill of materials of what is used: algorithms with the files that use them, the ledger's keys, the
 * servers' certificate, and the versions and suites of TLS.
 *
 * @see CycloneDX 1.6, `cryptoProperties`
 */
export function buildCbom({ product, ledgerKeys, certificate, at }: CbomParts) {
  const root = `${product.name}@${product.version}`;
  const components = [
    ...ALGORITHMS.map(algorithm),
    ...ledgerKeys.map((key, n) => publicKey(key, n === ledgerKeys.length - 1)),
    tls(),
    ...(certificate === undefined ? [] : certificates(certificate)),
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

function algorithm(
  { ref, name, oid, primitive, functions, parameters, curve, classical, quantum, usedFor, where }:
    Algorithm,
) {
  return {
    type: "cryptographic-asset",
    "bom-ref": refOf(ref),
    name,
    description: usedFor,
    cryptoProperties: {
      assetType: "algorithm",
      algorithmProperties: {
        primitive,
        ...(parameters ? { parameterSetIdentifier: parameters } : {}),
        ...(curve ? { curve } : {}),
        ...(primitive === "ae" ? { mode: "gcm" } : {}),
        executionEnvironment: "software-plain-ram",
        certificationLevel: ["none"],
        cryptoFunctions: functions,
        classicalSecurityLevel: classical,
        nistQuantumSecurityLevel: quantum,
      },
      ...(oid ? { oid } : {}),
    },
    evidence: { occurrences: where.map((location) => ({ location })) },
  };
}

function publicKey(hex: string, signs: boolean) {
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
        algorithmRef: refOf("ed25519"),
        value: hex,
        size: 256,
        format: "raw, hexadecimal",
      },
    },
  };
}

function tls() {
  const suites = getCiphers().filter((name) => name.startsWith("tls_")).map((name) => ({
    name: name.toUpperCase(),
  }));
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
        cipherSuites: suites,
      },
    },
  };
}

function certificates(pem: string) {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => {
    const { subject, issuer, validFrom, validTo, fingerprint256 } = new X509Certificate(block);
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
  });
}

/** The first 128 bits of a hash as a UUID of version 8. @see RFC 9562 §5.8 */
function uuidFrom(hex: string): string {
  const variant = (parseInt(hex[16]!, 16) & 3 | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${
    hex.slice(17, 20)
  }-${hex.slice(20, 32)}`;
}
