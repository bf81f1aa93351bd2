/** A runbook can't be used for this service here. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
  /** @param code `parameter_<name>`, `other_host`, `other_disk`, `not_allowed`, `user_not_allowed`, `folder_…` */
  constructor(readonly code: string, message: string) {
    super(message);
  }
}
