/** The code of an answer that the host asked for. It replaces the code of `hook-guard.ts`, which is registered before. */
export function hookAnswers(code: number): void {
  process.on('exit', () => (process.exitCode = code));
}
