/** Replaces what matches by `[redacted]`. Patterns are checked when the config is read. */
export function redactor(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text;
  const all = patterns.map((pattern) => new RegExp(pattern, 'gu'));
  return (text) => all.reduce((clean, pattern) => clean.replaceAll(pattern, '[redacted]'), text);
}
