/** Emulates the screen of a terminal with xterm.js, without a window. */
import type * as Headless from '@xterm/headless';
import { ToolFailure } from './state.ts';
import { addPackages } from '../input/add-package.ts';

export interface Screen {
  /** Writes output of the program. Resolves when the screen shows the output. */
  write(chunk: Uint8Array): Promise<void>;
  flushed(): Promise<void>;
  /** Returns the current rows, without trailing blanks and without blank rows at the end. */
  text(): string;
  /**
   * Returns the lines that have scrolled off (up to 1,000 rows) and the current rows, with wrapped lines joined. While a program
   * uses the whole screen, returns only the rows of that program.
   */
  all(): string;
  /** Returns the text before the cursor in its line. */
  cursorLine(): string;
  /** Calls the listener with the terminal's answers to a program's queries. */
  onAnswer(listener: (text: string) => void): { dispose(): void };
  dispose(): void;
}

const SCROLLED_ROWS = 1_000;

export async function openScreen(rows: number, columns: number): Promise<Screen> {
  const { Terminal } = await load();
  const terminal = new Terminal({ rows, cols: columns, scrollback: SCROLLED_ROWS, allowProposedApi: true });
  return {
    write: (chunk) => new Promise((resolve) => terminal.write(chunk, resolve)),
    flushed: () => new Promise((resolve) => terminal.write('', resolve)),
    text: () => {
      const { active } = terminal.buffer;
      return lines(active, active.baseY, active.baseY + terminal.rows)
        .join('\n')
        .trimEnd();
    },
    all: () => {
      const { active, normal } = terminal.buffer;
      // A program that uses the whole screen, such as an editor, has a separate screen. The text of the normal screen is not the
      // output of this program.
      const buffer = active.type === 'alternate' ? active : normal;
      return unwrapped(buffer).join('\n').trimEnd();
    },
    cursorLine: () => {
      const { active } = terminal.buffer;
      const row = active.baseY + active.cursorY;
      let text = active.getLine(row)?.translateToString(true, 0, active.cursorX) ?? '';
      for (let above = row; active.getLine(above)?.isWrapped === true && above > 0; above--)
        text = (active.getLine(above - 1)?.translateToString(false) ?? '') + text;
      return text;
    },
    onAnswer: (listener) => terminal.onData(listener),
    dispose: () => terminal.dispose(),
  };
}

type Buffer = Headless.IBuffer;

const lines = (buffer: Buffer, from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => (buffer.getLine(from + i)?.translateToString(true) ?? '').trimEnd());

function unwrapped(buffer: Buffer): string[] {
  const texts: string[] = [];
  for (let row = 0; row < buffer.length; row++) {
    const line = buffer.getLine(row);
    if (line === undefined) continue;
    const wraps = buffer.getLine(row + 1)?.isWrapped === true;
    const text = line.translateToString(!wraps);
    if (line.isWrapped && texts.length > 0) texts[texts.length - 1] += text;
    else texts.push(text);
  }
  return texts.map((text) => text.trimEnd());
}

async function load(): Promise<typeof Headless> {
  try {
    const loaded: typeof Headless & { default?: typeof Headless } = await import('@xterm/headless');
    return loaded.default ?? loaded;
  } catch (error) {
    throw missing('@xterm/headless', error);
  }
}

export const missing = (name: string, cause: unknown): ToolFailure =>
  new ToolFailure(
    `a terminal needs the package ${name}, which could not be loaded: ${addPackages(['@lydell/node-pty', '@xterm/headless'])}, or run the command without "pty"`,
    { cause },
  );
