/**
 * `make`, once for each thing: a storm of half an hour has thousands of sessions and of notifications, and each of these is asked
 * about each of those. What else it depends on is always the same for one thing.
 */
export function memo<Of extends object, Rest extends readonly unknown[], Value>(
  make: (of: Of, ...rest: Rest) => Value,
): (of: Of, ...rest: Rest) => Value {
  const known = new WeakMap<Of, { readonly value: Value }>();
  return (of, ...rest) => {
    const found = known.get(of) ?? { value: make(of, ...rest) };
    known.set(of, found);
    return found.value;
  };
}
