import fs from 'node:fs';
import path from 'node:path';
import type { LogKey } from '../../src/core/address.ts';
import type { NotificationId } from '../../src/core/notification.ts';
import type { Draft } from '../../src/core/records.ts';
import { toLog, type Inbox } from '../../src/inbox/index.ts';
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
    await fill(long, records);
    let shorts = 0;
    const measured = await versus({
      ours: () => carryTen(long, forMs),
      // Each round has a new log, because the short log must stay short.
      theirs: async () => {
        const file = `short-${shorts++}.db`;
        const short = await openInbox(folder, { file, policy });
        await fill(short, 100);
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

async function carryTen(inbox: Inbox, forMs: number): Promise<number> {
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
  // The first carry of each file is not measured, because it also prepares statements and explains the mark.
  await queueTen();
  await carry();
  return medianMs(forMs, queueTen, carry);
}

/** A log of a typical agent: turns with five tool calls each, and one notification per turn, delivered in that turn. */
async function fill(inbox: Inbox, records: number): Promise<void> {
  const log: LogKey = toLog(AGENT);
  const conversation = inbox.conversation(CONVERSATION).id;
  const batch: Draft[] = [];
  for (let turn = 0, written = 0; written < records; turn++) {
    const id = `n_old_${turn}` as NotificationId;
    const notification = {
      id,
      kind: { source: 'tool', name: 'stopped' },
      level: 'info',
      message: message(turn),
      data: data(turn),
    } as const;
    const calls = Array.from({ length: 5 }, (_, i) => `call_${turn}_${i}`);
    const drafts: Draft[] = [
      { type: 'turn_start', conversation },
      { type: 'chat_request', conversation, content: `What about part ${turn}?` },
      { type: 'system_notification_queued', ...notification },
      ...calls.map((call) => ({
        type: 'tool_call_request',
        conversation,
        id: call,
        name: 'read',
        arguments: { path: `src/part-${turn}.ts` },
      })),
      ...calls.map((call, i) => ({
        type: 'tool_call_response',
        conversation,
        id: call,
        content: `export const part${turn} = ${i};\n`.repeat(4),
        is_error: false,
        ...(i === 4
          ? {
              notifications: [notification],
              view: { format: 'default', items: [{ ids: [id], text: notification.message }], text: notification.message },
            }
          : {}),
      })),
      { type: 'chat_response', conversation, message: `Part ${turn} is fine.` },
    ];
    batch.push(...drafts.slice(0, records - written));
    written += drafts.length;
    if (batch.length < 2000 && written < records) continue;
    const appended = await inbox.store.append(log, batch.splice(0), { withinMs: 60_000 });
    if (appended.kind !== 'appended') throw new Error(`filling the log: ${appended.kind}`);
  }
}
