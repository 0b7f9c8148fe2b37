/**
 * `make`, once for each object: a storm of half an hour has thousands of sessions and notifications, and checks each pair. Its
 * other inputs are always the same for one object.
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
