/**
 * Byte strings as one, with where each starts and how long it is, both from 0.
 *
 * An array of them would travel to the database as hexadecimal text within quotes within braces, which costs both
 * sides more than all else about a receipt but its signature.
 */
export function inOnePiece(
  parts: readonly Buffer[],
): [Buffer, starts: number[], lengths: number[]] {
  let end = 0;
  const lengths = parts.map((part) => part.length);
  const starts = lengths.map((length) => (end += length) - length);
  return [Buffer.concat(parts, end), starts, lengths];
}
