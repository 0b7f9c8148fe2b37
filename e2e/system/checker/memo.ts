/**
 * Calls `make` only once for each object, because a storm of half an hour checks each pair of thousands of sessions and
 * notifications. The other inputs of `make` are always the same for one object.
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
