import { createInterface } from 'node:readline/promises';

export const isTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Asks a question on the terminal. Resolves with true for the answers y and yes. */
export async function agreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
