/** Result of a webhook's delivery. */
export interface DeliveryResult {
  readonly state: "queued" | "delivered" | "dead";
  readonly attempts: number;
  /** `status_<n>`, or the reason that there was no answer. */
  readonly code: string;
}
