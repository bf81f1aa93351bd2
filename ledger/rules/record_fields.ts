/** Returns the position that a record of era 3 claims. It is not verified here. */
export function readPosition(json: string): number | undefined {
  const { chain_position, schema_version } = parseFields(json);
  const isPosition = Number.isSafeInteger(chain_position) && Number(chain_position) >= 0;
  return isPosition && schema_version === "3.0" ? Number(chain_position) : undefined;
}

/** Returns the hash that a record claims to link to. */
export function readLink(json: string): string {
  const { prev_hash } = parseFields(json);
  return typeof prev_hash === "string" ? prev_hash : "";
}

/** Returns the fields of a record; none where it is no object. */
export function parseFields(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // verifyRecord() reports it
  }
}
