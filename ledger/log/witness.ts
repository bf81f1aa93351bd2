import { type NoteKey, type NoteSignature, parseNote, parseSignatures } from "../notes/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { isSignedBy } from "./note.ts";

/** A witness of the log. */
export interface Witness {
  /** Without a slash at the end; `/add-checkpoint` is appended. */
  readonly url: string;
  /** Key of its cosignatures. */
  readonly key: NoteKey;
}

/** A checkpoint that a witness is asked to cosign. */
export interface CosignRequest {
  /** The checkpoint as signed by the log. */
  readonly note: string;
  readonly size: number;
  /** Builds the consistency proof from an older size, > 0, to this one. */
  readonly prove: (oldSize: number) => Promise<readonly Hash[]>;
  readonly signal: AbortSignal;
}

/** A witness did not cosign. */
class NotCosigned extends Error {
  override readonly name = "NotCosigned";
}

const MAX_ANSWER_BYTES = 16 * 1024;

/**
 * Asks a witness to cosign a checkpoint.
 *
 * @param knownSize size that the witness is believed to have cosigned last; it answers with the right one otherwise
 * @returns its cosignature, verified
 * @throws {NotCosigned} it refused, answered something else, or did not answer
 * @see C2SP tlog-witness
 */
export async function cosign(
  witness: Witness,
  request: CosignRequest,
  knownSize = 0,
): Promise<NoteSignature> {
  const first = await ask(witness, request, knownSize);
  const answer = typeof first === "number" ? await ask(witness, request, first) : first;
  if (typeof answer === "number") {
    throw new NotCosigned(
      `${witness.url} says that it has cosigned size ${knownSize}, then size ${answer}`,
    );
  }
  const { text } = parseNote(request.note);
  const valid = answer.find((s) => isSignedBy({ text, signatures: [s] }, witness.key));
  if (!valid) throw new NotCosigned(`${witness.url} answered without a cosignature of its key`);
  return valid;
}

/**
 * Asks a witness for the size that it has cosigned last, by the newest checkpoint that the log has signed itself.
 *
 * @throws {NotCosigned} it answered something else, did not answer, or says a size that the log has not signed: nothing
 * proves that, so it costs no more than this witness's cosignatures
 */
export async function askLastSize(
  witness: Witness,
  request: Omit<CosignRequest, "prove">,
): Promise<number> {
  const { size } = request;
  const answer = await ask(witness, { ...request, prove: () => Promise.resolve([]) }, size);
  if (typeof answer !== "number") return size;
  if (answer <= size) return answer;
  throw new NotCosigned(
    `${witness.url} says that it has cosigned ${answer} leaves, and the log has signed ${size}`,
  );
}

/** @returns cosignatures, or the size that the witness has cosigned last */
async function ask(
  { url }: Witness,
  { note, size, prove, signal }: CosignRequest,
  old: number,
): Promise<NoteSignature[] | number> {
  if (old > size) throw new NotCosigned(`${url} has cosigned ${old} leaves; here are ${size}`);
  const proof = old > 0 && old < size ? await prove(old) : [];
  const lines = proof.map((hash) => `${Buffer.from(hash).toString("base64")}\n`).join("");
  const { status, text } = await post(
    `${url}/add-checkpoint`,
    `old ${old}\n${lines}\n${note}`,
    signal,
  );
  if (status === 200) {
    try {
      return parseSignatures(text);
    } catch (cause) {
      throw new NotCosigned(`${url} answered no cosignatures`, { cause });
    }
  }
  if (status === 409 && /^(0|[1-9]\d{0,15})\n?$/.test(text)) return Number(text);
  throw new NotCosigned(`${url} answered ${status}: ${text.slice(0, 200).trim()}`);
}

async function post(url: string, body: string, signal: AbortSignal) {
  try {
    const response = await fetch(url, { method: "POST", body, signal, redirect: "error" });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ANSWER_BYTES) throw new Error(`more than ${MAX_ANSWER_BYTES} bytes`);
    }
    return { status: response.status, text };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new NotCosigned(`${url} did not answer: ${why}`, { cause });
  }
}
