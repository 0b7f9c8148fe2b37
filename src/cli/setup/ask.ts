import { createInterface } from 'node:readline/promises';

/**
 * Says why nothing was done: the command had nobody to ask. `nothing` is a text such as `nothing was erased`, and `goal` a text
 * such as `erase the data`.
 */
export const nobodyToAsk = (nothing: string, goal: string): string =>
  `${nothing}, because the command can ask for confirmation only in a terminal and without --json; add --yes to ${goal} without this question`;

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
