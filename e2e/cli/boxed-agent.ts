/**
 * Plays a coding agent in a terminal, with an input box like that of Gemini CLI. An Enter within 30 ms of another key is a line
 * break, and so are the first `IGNORED` other Enters. The agent prints its box after each key, and each sent line, as JSON. The
 * agent's turn ends when its box contains `DRAFT`, or at once if `DRAFT` is not set.
 */
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { noteState, TERMINAL_VARIABLE } from '../../src/hosts/terminal-state.ts';

const QUICK_MS = 30;
const file = process.env[TERMINAL_VARIABLE] ?? '';
const of = { log: logKey('shop', 'coder'), id: 'main' as ConversationId };
let ignored = Number(process.env['IGNORED'] ?? 0);
let box = '';
let keyAt = Number.NEGATIVE_INFINITY;

process.stdin.setRawMode(true).on('data', (keys: Buffer) => {
  for (const key of keys.toString()) {
    const isQuick = performance.now() - keyAt < QUICK_MS;
    keyAt = performance.now();
    if (key === '\u007F') box = box.slice(0, -1);
    else if (key !== '\r') box += key;
    else if (isQuick || ignored-- > 0) box += '\n';
    else send();
  }
  if (box !== '' && box === process.env['DRAFT']) becomeIdle();
  process.stdout.write(`BOX ${JSON.stringify(box)} END\r\n`);
});

function becomeIdle(): void {
  noteState(file, { kind: 'turn_end' }, false, of);
}

function send(): void {
  noteState(file, { kind: 'prompt' }, false, of);
  process.stdout.write(`SENT ${JSON.stringify(box)} END\r\n`);
  box = '';
}

noteState(file, { kind: 'prompt' }, false, of);
if (process.env['DRAFT'] === undefined) becomeIdle();
process.stdout.write('READY\r\n');
