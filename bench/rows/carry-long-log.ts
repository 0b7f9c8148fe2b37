import fs from 'node:fs';
import path from 'node:path';
import { toLog, type Inbox } from '../../src/inbox/index.ts';
import { fill } from '../log/fill.ts';
import { AGENT, CONVERSATION, data, message, openInbox } from '../log/ours.ts';
import { medianMs, versus } from '../rounds.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'carry-long-log',
  what: "carry 10 open notifications into a tool's response, in a log of 1,000,000 records against one of 100 (a file each)",
  bar: [{ figure: 'ratio', is: '<=', value: 1.3 }],
  async run({ quick, folder }) {
    const records = quick ? 20_000 : 1_000_000;
    const forMs = quick ? 20 : 60;
    const policy = { coalesceMs: { '*': 0 } };
    const long = await openInbox(folder, { file: 'long.db', policy });
    await fill(long.store, { ...whose(long), to: records });
    let shorts = 0;
    const measured = await versus({
      ours: () => carryTen(long, forMs),
      // Each round has a new log, because the short log must stay short.
      theirs: async () => {
        const file = `short-${shorts++}.db`;
        const short = await openInbox(folder, { file, policy });
        await fill(short.store, { ...whose(short), to: 100 });
        const took = await carryTen(short, forMs);
        await short.close();
        fs.rmSync(path.join(folder, file));
        return took;
      },
      unit: 'ms',
      rounds: quick ? 3 : 15,
    });
    await long.close();
    return { ...measured, figures: { ...measured.figures, log: { value: records, unit: 'records' } } };
  },
};

/** Returns the log and the conversation of the agent. */
const whose = (inbox: Inbox) => ({ log: toLog(AGENT), conversation: inbox.conversation(CONVERSATION).id });

export async function carryTen(inbox: Inbox, forMs: number): Promise<number> {
  const conversation = inbox.conversation(CONVERSATION);
  let n = 0;
  const carry = async (): Promise<void> => {
    const { records } = await conversation.carry(
      { type: 'tool_call_response', id: `call_${n}`, content: 'done', is_error: false },
      { at: 'tool_result' },
    );
    const carried = records.at(-1)?.body as { notifications?: readonly unknown[] };
    if (carried.notifications?.length !== 10) throw new Error(`10 were due, ${carried.notifications?.length} rode`);
  };
  const queueTen = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await inbox.queue(AGENT, { kind: 'tool.stopped', message: message(++n), data: data(n) });
  };
  // The first carry of each measurement is not timed, because it may prepare statements and explain the mark.
  await queueTen();
  await carry();
  return medianMs(forMs, queueTen, carry);
}
