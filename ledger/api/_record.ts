import type { StoredReceipt } from "../receipts/mod.ts";

/** Parses the record of a receipt; returns no fields if it was changed into something that is no JSON object. */
export function parseRecord({ text }: StoredReceipt): Record<string, string | undefined> {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === "object" && fields !== null ? fields as Record<string, string> : {};
  } catch {
    return {};
  }
}

/** Makes the entry of a receipt in lists. */
export function summarizeReceipt(receipt: StoredReceipt, ledgerUrl: string) {
  const record = parseRecord(receipt);
  return {
    receipt_id: receipt.id,
    chain_position: receipt.position,
    previous_hash: record.prev_hash ?? "",
    sha256: receipt.hash,
    timestamp: record.timestamp ?? null,
    human_input: record.human_input ?? "",
    type: receipt.category,
    subject: record.subject ?? "",
    outcome: record.outcome ?? "",
    verify_url: `${ledgerUrl}/api/verify/${encodeURIComponent(receipt.id)}`,
    version: record.schema_version === undefined ? "v1" : `v${record.schema_version}`,
  };
}
