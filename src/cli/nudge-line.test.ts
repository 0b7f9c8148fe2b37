import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NudgeLine, type Sent } from './nudge-line.ts';

const LINE = 'Earpiece: wait.';
const ERASED = '\u007F'.repeat(LINE.length);
const PASTE = '\u001B[200~two\r\nlines\u001B[201~';

/** An agent with an input box, and a person at its keyboard. */
class Desk {
  /** The bytes that arrive in the terminal, in order. */
  readonly arrived: string[] = [];
  isTaken = false;
  isReady = true;
  readonly line = new NudgeLine((keys) => void this.arrived.push(Buffer.from(keys as string).toString()));
  sent: Promise<Sent> = Promise.resolve('erased');

  send(): void {
    this.sent = this.line.send(LINE, { isReady: () => this.isReady, isTaken: () => this.isTaken });
  }

  press(...chunks: (string | Uint8Array)[]): void {
    for (const chunk of chunks) {
      const keys = Buffer.from(chunk as string);
      if (!this.line.keeps(keys)) this.arrived.push(keys.toString());
    }
  }
}

const after = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

let desk: Desk;
beforeEach(() => {
  vi.useFakeTimers();
  desk = new Desk();
});
afterEach(() => void vi.useRealTimers());

describe('the keys of a person', () => {
  test('keys between the line and its Enter arrive after the turn has begun', async () => {
    desk.send();
    await after(60);
    desk.press('d', 'é', PASTE);
    await after(89);
    expect(desk.arrived).toEqual([LINE]);
    await after(1);
    expect(desk.arrived).toEqual([LINE, '\r']);
    desk.press('x');
    desk.isTaken = true;
    await after(20);
    expect(desk.arrived).toEqual([LINE, '\r', 'd', 'é', PASTE, 'x']);
    expect(await desk.sent).toBe('sent');
  });

  test('keys arrive with the same bytes, even if one character arrives in two parts', async () => {
    const bytes: Uint8Array[] = [];
    const line = new NudgeLine((keys) => void (typeof keys === 'string' || bytes.push(keys)));
    const sent = line.send(LINE, { isReady: () => true, isTaken: () => true });
    const halves = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    expect(halves.map((each) => line.keeps(each))).toEqual([true, true]);
    await after(200);
    await sent;
    expect(Buffer.concat(bytes).toString()).toBe('é');
  });

  test('keys before the line, and keys after the turn has begun, arrive at once', async () => {
    desk.press('a');
    desk.send();
    await after(150);
    desk.isTaken = true;
    await after(20);
    desk.press('b');
    expect(desk.arrived).toEqual(['a', LINE, '\r', 'b']);
  });

  test('an Enter after other keys waits, so that the agent does not treat the Enter as pasted text', async () => {
    desk.send();
    desk.press('y', '\r', 'z');
    desk.isTaken = true;
    await after(150);
    expect(desk.arrived).toEqual([LINE, '\r', 'y']);
    desk.press('!');
    await after(150);
    expect(desk.arrived).toEqual([LINE, '\r', 'y', '\r', 'z', '!']);
    desk.press('?');
    expect(desk.arrived.at(-1)).toBe('?');
  });

  test('keys also wait after a second Enter; when the turn has begun, an Enter without other keys arrives at once', async () => {
    desk.send();
    await after(150 + 1_000);
    const again = desk.line.enter();
    desk.press('\r');
    expect(desk.arrived).toEqual([LINE, '\r', '\r']);
    desk.isTaken = true;
    await after(20);
    expect(desk.arrived).toEqual([LINE, '\r', '\r', '\r']);
    expect(await again).toBe('sent');
  });
});

describe('Earpiece', () => {
  test('erases the line before the next key if the agent does not accept the line within a second', async () => {
    desk.send();
    await after(150);
    desk.press('d');
    await after(980);
    expect(desk.arrived).toEqual([LINE, '\r']);
    await after(20);
    expect(desk.arrived).toEqual([LINE, '\r', `${ERASED}\u007F`, 'd']);
    expect(await desk.sent).toBe('erased');
  });

  test('erases the line before a key that is pressed while the line is still in the box', async () => {
    desk.send();
    await after(150 + 1_000);
    expect(await desk.sent).toBe('sent');
    const again = desk.line.enter();
    await after(1_000);
    expect(await again).toBe('sent');
    desk.press('d', 'e');
    expect(desk.arrived).toEqual([LINE, '\r', '\r', `${ERASED}\u007F\u007F`, 'd', 'e']);
    expect(await desk.line.enter()).toBe('erased');
    expect(desk.arrived).toHaveLength(6);
  });

  test('keeps the line if the turn began late', async () => {
    desk.send();
    await after(150 + 1_000);
    desk.isTaken = true;
    desk.press('d');
    expect(desk.arrived).toEqual([LINE, '\r', 'd']);
  });

  test('erases the line if the agent has stopped waiting before Enter', async () => {
    desk.send();
    desk.press('d');
    desk.isReady = false;
    await after(150);
    expect(desk.arrived).toEqual([LINE, ERASED, 'd']);
    expect(await desk.sent).toBe('erased');
  });

  test.each(['\u0003', '\u001B[99;5u', '\u001B[27;5;99~', '\u001B[99;133u'])(
    'erases the line at once for Ctrl+C (%j)',
    async (ctrlC) => {
      desk.send();
      await after(60);
      desk.press('ab', ctrlC);
      expect(desk.arrived).toEqual([LINE, ERASED, 'ab', ctrlC]);
      desk.press('c');
      await after(2_000);
      expect(desk.arrived).toEqual([LINE, ERASED, 'ab', ctrlC, 'c']);
      expect(await desk.sent).toBe('erased');
    },
  );
});
