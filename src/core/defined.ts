/**
 * Copies `fields` without the keys whose value is `undefined`, as `exactOptionalPropertyTypes` requires. Write `{ ...defined({
 * key, level }) }`. A value of null, false, 0 or '' stays.
 */
export const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } => {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> };
};

/** Copies a model's arguments without those that are null. Models with strict schemas send null for an argument that they omit. */
export const withoutNulls = <T extends object>(args: T): { [K in keyof T]?: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) as { [K in keyof T]?: Exclude<T[K], null> };
