/** Mail that asks the holder of an address for consent. */
export const confirmations = `
  ALTER TABLE emails DROP CONSTRAINT emails_kind_check;
  ALTER TABLE emails ADD CONSTRAINT emails_kind_check
    CHECK (kind IN ('mail', 'reply', 'auto_reply', 'invitation', 'notice', 'confirmation'));
`;
