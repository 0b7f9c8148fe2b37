import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { begin, selfOwner } from '../../src/inbox/index.ts';
import { openInbox } from '../log/ours.ts';
import { versus } from '../rounds.ts';
import type { Row } from '../row.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

export const row: Row = {
  name: 'hook',
  what: 'CPU time of `earpiece hook claude` with nothing open, whole process, built, against `node -e 0`',
  bar: [{ figure: 'ratio', is: '<=', value: 1.5 }],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder);
    const [host, log, id] = [selfOwner(), logKey('bench', 'claude-code'), 'session' as ConversationId];
    await inbox.bind(host, { log, conversation: id });
    const conversation = inbox.conversation({ log, conversation: id }, { process: host, carrier: 'hook' });
    await begin(conversation);
    const input = JSON.stringify({ hook_event_name: 'PreToolUse', session_id: id, cwd: folder, tool_name: 'Bash' });
    const db = inbox.store.name.replace(/^sqlite /, '');
    const times = quick ? 2 : 10;
    const side = (args: readonly string[]) => async (): Promise<number> => {
      await conversation.inbox.store.touch({ log, conversation: id });
      let ms = 0;
      for (let n = 0; n < times; n++) ms += await cpuOf(args, input, db);
      return ms / times;
    };
    const measured = await versus({
      ours: side([CLI, 'hook', 'claude']),
      theirs: side(['-e', '0']),
      unit: 'ms',
      rounds: quick ? 2 : 9,
    });
    await inbox.close();
    return measured;
  },
};

/** User and system time of one process, ms; the shell that waits for it tells. */
async function cpuOf(args: readonly string[], input: string, db: string): Promise<number> {
  const child = spawn('sh', ['-c', '"$0" "$@"; times', process.execPath, ...args], {
    env: { ...process.env, EARPIECE_DB: db },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => {}).end(input);
  await new Promise((resolve) => child.once('close', resolve));
  const [user = Number.NaN, system = Number.NaN] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(msOf);
  return user + system;
}

/** `0m0.043000s` */
function msOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return (Number(minutes) * 60 + Number(seconds)) * 1_000;
}
