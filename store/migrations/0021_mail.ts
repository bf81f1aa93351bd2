/** Mail: what is sent, and what was received. */
export const mail = `
  CREATE TABLE emails (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- EML- and 12 hex characters
    kind text NOT NULL CHECK (kind IN ('mail', 'reply', 'auto_reply', 'invitation', 'notice', 'confirmation')),
    contact_id text,              -- null: the recipient is no contact
    thread_id text NOT NULL,      -- id of the first mail of its thread
    answers text,                 -- reply_id of what it answers
    recipient text NOT NULL,
    recipient_key text NOT NULL,  -- the same for all spellings of one address
    subject text NOT NULL,
    body text NOT NULL,
    message_id text NOT NULL,     -- without angle brackets
    message bytea NOT NULL,       -- exactly as each attempt sends it
    commitment text NOT NULL,     -- SHA-256 of the salt and the message; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    findings jsonb NOT NULL DEFAULT '[]', -- [{code, about}]: why it is held for people
    approval_id text,             -- null: it was not held
    asked_by text NOT NULL,       -- principal, or the part of the platform
    asked_by_key text,
    state text NOT NULL CHECK (state IN ('held', 'queued', 'sending', 'sent', 'not_sent', 'unknown')),
    code text,                    -- how the last attempt ended
    attempts integer NOT NULL DEFAULT 0, -- the newest of them alone may end the mail
    ending_at timestamptz,        -- when this attempt was about to end the mail; null: the server can't have it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    receipt_id text,              -- of its end
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, message_id)
  );
  CREATE INDEX emails_recipient ON emails (tenant_id, recipient_key, created_at DESC);
  CREATE INDEX emails_contact ON emails (tenant_id, contact_id, created_at DESC);
  CREATE INDEX emails_newest ON emails (tenant_id, created_at DESC);
  CREATE INDEX emails_answers ON emails (tenant_id, answers) WHERE answers IS NOT NULL;

  CREATE TABLE email_replies (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- RPL- and 12 hex characters, made from the mail
    thread_id text NOT NULL,
    email_id text,                -- mail that it answers; null: it answers none of ours
    contact_id text,
    sender text NOT NULL,
    sender_key text NOT NULL,
    subject text NOT NULL,
    body text NOT NULL,           -- plain text, as it came
    message_id text NOT NULL,     -- without angle brackets; '' where it has none
    mail_references text[] NOT NULL DEFAULT '{}',
    state text NOT NULL CHECK (state IN ('draft', 'held', 'sent', 'ignored')),
    code text,                    -- why it is ignored
    draft text,                   -- proposed answer
    citations jsonb NOT NULL DEFAULT '[]',
    ticket_id text,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    receipt_id text NOT NULL,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX email_replies_newest ON email_replies (tenant_id, received_at DESC, id);
  CREATE INDEX email_replies_contact ON email_replies (tenant_id, contact_id, received_at DESC);
  CREATE INDEX email_replies_sender ON email_replies (tenant_id, sender_key, received_at DESC);
  SELECT wall_off(false, 'emails', 'email_replies');
`;
