/** Fields that select what a list shows, and the way through its pages. */

/** A field with its name above. It tells of a change when it is left, or on Enter. */
export function Field({ name, value, onChange, type = "text", placeholder }: {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "search" | "date";
  readonly placeholder?: string;
}) {
  return (
    <label>
      {name}
      <input
        type={type as "text"} // its types know one kind at a time
        value={value}
        placeholder={placeholder}
        maxLength={200}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </label>
  );
}

/** One of several values, each with its words. */
export function Select({ name, value, options, onChange }: {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, says: string])[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <label>
      {name}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([one, says]) => <option key={one} value={one}>{says}</option>)}
      </select>
    </label>
  );
}

/** Leads to the pages beside the one that is shown. */
export function Pager({ older, newer, go }: {
  readonly older: string | null;
  readonly newer: string | null;
  readonly go: (changes: Readonly<Record<string, string>>) => void;
}) {
  if (!older && !newer) return null;
  return (
    <nav class="actions" aria-label="Pages of the list">
      <button
        type="button"
        class="plain"
        disabled={!newer}
        onClick={() => go({ newer_than: newer! })}
      >
        Newer
      </button>
      <button
        type="button"
        class="plain"
        disabled={!older}
        onClick={() => go({ older_than: older! })}
      >
        Older
      </button>
    </nav>
  );
}
