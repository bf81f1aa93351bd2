/** A blob as a list shows it. */
export interface BlobEntry {
  readonly key: string;
  readonly modifiedAt: Date;
  readonly bytes: number;
}

/**
 * Blobs by their keys, which all processes of a platform share. What is under a key never changes: whoever reads one checks
 * that it is what the key says.
 */
export interface BlobStore {
  /** Stores bytes under a key. Safe to repeat. @throws {Problem} `Unavailable` */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Stores bytes under a key that has none. Of several that do so at once, one succeeds.
   *
   * @returns false where there were some
   * @throws {Problem} `Unavailable`; they may be stored all the same
   */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Returns the bytes under a key; undefined: there are none. @throws {Problem} `Unavailable` */
  get(key: string): Promise<Buffer | undefined>;
  /** Returns when a blob was stored last; undefined: there is none. @throws {Problem} `Unavailable` */
  modifiedAt(key: string): Promise<Date | undefined>;
  /** Removes a blob, where there is one. @throws {Problem} `Unavailable` */
  remove(key: string): Promise<void>;
  /** Lists the blobs whose keys begin so. @throws {Problem} `Unavailable` */
  list(prefix: string): AsyncIterable<BlobEntry>;
}
