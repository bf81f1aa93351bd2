/** Frames of a pipe: the length in four bytes, big-endian, then as many bytes. */
import type { Readable, Writable } from "node:stream";

const HEAD_BYTES = 4;

/** A frame is longer than its reader allows. */
class FrameTooLong extends Error {
  override readonly name = "FrameTooLong";
}

/** Writes a frame. */
export function writeFrame(stream: Writable, bytes: Uint8Array): void {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(bytes.length);
  stream.write(head);
  if (bytes.length > 0) stream.write(bytes);
}

/** Reads frames until the stream ends. @throws {FrameTooLong} */
export async function* readFrames(stream: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  let isHead = true;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
      const taken = all.subarray(0, wanted);
      const rest = all.subarray(wanted);
      chunks = rest.length > 0 ? [rest] : [];
      size = rest.length;
      wanted = isHead ? taken.readUInt32BE() : HEAD_BYTES;
      if (isHead && wanted > maxBytes) throw new FrameTooLong(`A frame has ${wanted} bytes`);
      if (!isHead) yield taken;
      isHead = !isHead;
    }
  }
}
