import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { TIERS } from "../../contract/mod.ts";
import { ANONYMOUS_ACTOR } from "../../contract/domain/mod.ts";
import {
  CLASSIFICATION,
  type ClassifyRequest,
  type ClassifyResult,
  EngineUnavailable,
  RAG_CONTEXT,
} from "../../judgement/engine/mod.ts";
import { canonicalize, formatReceiptTime } from "../../ledger/mod.ts";
import { Sha256, text, Timestamp } from "../schemas/mod.ts";

const OTS_NOTE =
  "The receipt of a classification has no timestamp proof of its own; the ledger anchors it with all others";

const Proof = z.object({
  receipt_hash: Sha256.describe(
    "SHA-256 over the canonical JSON of {description, source, classification, timestamp, nonce}",
  ),
  receipt_id: z.string().describe("Id of the receipt: the first 16 characters of receipt_hash"),
  hash_chained: z.boolean().describe(
    "True: the receipt is stored, and becomes part of the chain, usually within a second",
  ),
  ots_attested: z.boolean(),
  ots_note: z.string(),
  verify_url: z.string().describe("Public address of the ledger"),
  timestamp: Timestamp,
  nonce: z.string().describe("Random, so that nobody can guess the description from receipt_hash"),
});

/** Answer while the engine is away. */
const NO_ANSWER = {
  classification: null,
  rag_context: null,
  provider: null,
  elapsed_seconds: null,
};

/** Classifies a report and seals the classification. */
export const classifyReport = operation({
  name: "incidents.classify",
  group: "core",
  summary: "Classify an incident report: category, severity, recommended action and citations",
  description:
    "Every call is sealed, even while the engine is away; then every field but `proof` is null. The receipt has codes, " +
    "counts and hashes; the description is stored as private evidence. `proof` has what you need to compute `receipt_hash` " +
    "yourself.",
  effect: "run",
  access: "public",
  input: z.object({
    description: text(10, 2000).describe("What was observed, as free text"),
    source: text(0, 200).default("api").describe(
      "Source of the report, such as a monitoring system",
    ),
  }),
  output: z.object({
    classification: CLASSIFICATION.nullable().describe("Null: the engine is away"),
    rag_context: RAG_CONTEXT.nullable().describe(
      "Passages that were retrieved; null: the engine is away",
    ),
    provider: z.string().nullable().describe("Classifier that answered; null: the engine is away"),
    elapsed_seconds: z.number().nullable(),
    proof: Proof,
  }),
  rest: { classify: "POST /v1/classify" },
  presentation: { errors: ["Unavailable"] },
  governance: { rule: "sandbox-and-judgement", limits: { perDay: "classify" } },
  durability: { sealsItself: true },
  example: {
    input: { description: "Writes to db01 fail: no space left on device", source: "monitoring" },
    output: {
      classification: {
        category: "storage",
        severity: "high",
        confidence: 0.97,
        recommended_action: "Check: `df -hT` and `df -i`: space or inodes?",
        citations: [{
          id: "storage-filesystem-full",
          title: "A file system is full: no space left on device, services on it stop",
          score: 0.9,
          sha256: "8ff9d9ad8332f9b1238811da0965b6ae93531392a5d19cc9b40afee74fa13f9d",
        }],
      },
      rag_context: {
        passages: [{
          id: "storage-filesystem-full",
          title: "A file system is full: no space left on device, services on it stop",
          score: 0.9,
          sha256: "8ff9d9ad8332f9b1238811da0965b6ae93531392a5d19cc9b40afee74fa13f9d",
          kind: "article",
          text:
            "A file system is full: no space left on device, services on it stop\nSymptoms:\n- …",
        }],
      },
      provider: "local",
      elapsed_seconds: 0.012,
      proof: {
        receipt_hash: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
        receipt_id: "60dcf44792c84378",
        hash_chained: true,
        ots_attested: false,
        ots_note: OTS_NOTE,
        verify_url: "http://127.0.0.1:8082",
        timestamp: "2026-07-01T12:00:00.000000+00:00",
        nonce: "9f2c4b7a01d3e8569f2c4b7a01d3e856",
      },
    },
  },
  run: async ({ description, source }, context) => {
    const isPublic = TIERS.indexOf(context.caller.tier) < TIERS.indexOf("partner");
    const audience = isPublic ? "public" : "house";
    const answer = await askEngine(context, { description, source, audience });
    const proof = await sealAnswer(context, { description, source }, answer);
    const { classification, rag_context, provider, elapsed_seconds } = answer ?? NO_ANSWER;
    return { classification, rag_context, provider, elapsed_seconds, proof };
  },
});

/** Returns the engine's answer; undefined: the engine is away. */
async function askEngine(
  { engine, store, log }: Context,
  request: Omit<ClassifyRequest, "tenant">,
): Promise<ClassifyResult | undefined> {
  try {
    return await engine.classify(request, store.tenant);
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    log.warn({ reason: error.reason }, "The engine is away; a report is sealed unclassified");
    return undefined;
  }
}

/** Stores the request to seal; from then on the receipt will be sealed. */
async function sealAnswer(
  { sealer, store, caller, urls }: Context,
  report: { readonly description: string; readonly source: string },
  answer: ClassifyResult | undefined,
): Promise<z.output<typeof Proof>> {
  const classification = answer?.classification ?? null;
  const timestamp = formatReceiptTime();
  const nonce = randomBytes(16).toString("hex");
  const hashed = { ...report, classification, timestamp, nonce };
  const receipt_hash = createHash("sha256").update(canonicalize(hashed)).digest("hex");
  const receipt_id = receipt_hash.slice(0, 16);
  await sealer.request({
    id: receipt_id,
    category: "api_classification",
    actor: caller.keyId === null ? ANONYMOUS_ACTOR : `key:${caller.keyId}`,
    subject: `classify-${receipt_hash.slice(0, 12)}`,
    action: "classify",
    outcome: answer ? "classified" : "engine_unavailable",
    timestamp,
    tenant: store.tenant,
    details: { receipt_hash, ...(answer ? publicDetails(answer) : { classification: null }) },
    evidence: { classified: hashed },
  });
  return {
    receipt_hash,
    receipt_id,
    hash_chained: true,
    ots_attested: false,
    ots_note: OTS_NOTE,
    verify_url: urls.ledger,
    timestamp,
    nonce,
  };
}

/** Returns the public part of an answer: codes, ids, and hashes of articles that ship with the product. */
function publicDetails({ classification, rag_context, provider, elapsed_seconds }: ClassifyResult) {
  const { category, severity, confidence } = classification;
  const kinds = new Map(rag_context.passages.map(({ id, kind }) => [id, kind]));
  return {
    classification: { category, severity, confidence },
    citations: classification.citations.map(({ id, sha256 }) =>
      kinds.get(id) === "article" ? { id, sha256 } : { id }
    ),
    provider,
    elapsed_seconds,
  };
}
