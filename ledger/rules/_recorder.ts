/** Bytes of one receipt, or of the envelope around all of them. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Records one value of a stream that comes in chunks, without the bytes to leave out. */
export interface Recorder {
  isRecording(): boolean;
  /** Offset of the value's first byte in the stream. */
  start(): number;
  /** Begins with a value, at a place in the chunk. */
  begin(offset: number, at: number): void;
  /** Leaves out one byte of the chunk. */
  leaveOut(at: number): void;
  /** Begins to read the next chunk. */
  startChunk(chunk: Uint8Array): void;
  finishChunk(): void;
  /** Returns the last bytes before a place in the chunk, as text of ASCII. */
  tail(length: number, at: number): string;
  /** Ends the recording, and returns what was recorded up to a place in the chunk. */
  take(at: number): Uint8Array;
}

/** Opens a recorder. @param fail called, with the value's offset, where a value is too large; never returns */
export function openRecorder(fail: (reason: string) => never): Recorder {
  let chunk: Uint8Array = new Uint8Array();
  let start = -1; // of the value in the stream; negative: none is being recorded
  let from = 0; // of the bytes to record, in the chunk
  let pieces: Uint8Array[] = [];
  let bytes = 0;

  function add(to: number): void {
    if (start < 0 || to <= from) return;
    pieces.push(chunk.subarray(from, to));
    bytes += to - from;
    if (bytes > MAX_BYTES) fail(`The value at byte ${start} is larger than ${MAX_BYTES} bytes`);
  }

  return {
    isRecording: () => start >= 0,
    start: () => start,
    begin(offset, at) {
      [start, from] = [offset, at];
    },
    leaveOut(at) {
      add(at);
      from = at + 1;
    },
    startChunk(next) {
      [chunk, from] = [next, 0];
    },
    finishChunk: () => add(chunk.length),
    tail(length, at) {
      let text = toAscii(chunk.subarray(Math.max(from, at - length), at));
      for (let n = pieces.length - 1; n >= 0 && text.length < length; n--) {
        text = toAscii(pieces[n]!.subarray(-length)) + text;
      }
      return text.slice(-length);
    },
    take(at) {
      add(at);
      const value = pieces.length === 1 ? pieces[0]! : joinBytes(pieces, bytes);
      [start, from, pieces, bytes] = [-1, at, [], 0];
      return value;
    },
  };
}

const toAscii = (bytes: Uint8Array) => String.fromCharCode(...bytes);

function joinBytes(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
