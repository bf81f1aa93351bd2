/** The same type with arrays and fields that may be read-only. */
export type DeepReadonly<T> = T extends readonly (infer Entry)[] ? readonly DeepReadonly<Entry>[]
  : T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
  : T;
