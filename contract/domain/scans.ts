/** Result of a security scan. */
export interface ScanResult {
  readonly scanners: readonly {
    readonly scanner: string;
    readonly state: "ok" | "not_configured" | "failed";
    readonly findings: number;
  }[];
  readonly findings: number;
  readonly receipt_id: string;
}
