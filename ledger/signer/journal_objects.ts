/** An object as a list shows it. */
interface JournalObject {
  readonly key: string;
  readonly bytes: number;
}

/** Objects by their keys, in a bucket that machines share. What one of them has stored, all see at once. */
export interface JournalObjects {
  /**
   * Stores an object under a key that has none. Of several that do so at once, one succeeds.
   *
   * @returns false where there was one
   * @throws it may be stored or not
   */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<JournalObject>;
}
