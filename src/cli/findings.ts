/** Formats the findings of `doctor` for people. */
import { table } from './table.ts';
import { paint, plain } from './terminal.ts';
import type { Finding } from './what-agents-miss.ts';

/** Formats each finding as a line, followed by its advice. */
export function rows(findings: readonly Finding[]): readonly string[] {
  const lines = table(
    findings.map((f) => [signOf(f), f.what, plain(f.value)]),
    [{}, {}, {}],
    // The findings are never cut: the terminal wraps long findings.
    { width: Number.POSITIVE_INFINITY },
  ).split('\n');
  return findings.flatMap(({ advice }, i) => [
    lines[i] ?? '',
    ...(advice === undefined ? [] : [`   ${paint('yellow', '→')} ${advice}`]),
  ]);
}

const signOf = ({ ok, advice }: Finding): string =>
  ok ? (advice === undefined ? paint('green', '✓') : paint('yellow', '!')) : paint('red', '✗');
