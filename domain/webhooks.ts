/** How a webhook's delivery ended. */
export interface DeliveryResult {
  readonly state: "queued" | "delivered" | "dead";
  readonly attempts: number;
  /** `status_<n>`, or why there was no answer. */
  readonly code: string;
}
