/**
 * Sets the exit code of an answer in the host's protocol. This exit code replaces the exit code that `hook-guard.ts` sets,
 * because this listener is registered later.
 */
export function hookAnswers(code: number): void {
  process.on('exit', () => (process.exitCode = code));
}
